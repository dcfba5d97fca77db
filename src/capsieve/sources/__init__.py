"""Where frames come from: one small file each."""
