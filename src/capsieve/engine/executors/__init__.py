"""Where tasks run: here, in processes, on a cluster; one file each."""
