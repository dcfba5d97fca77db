"""Sources of frames: videos, and folders and ZIP archives of images.

base              what all sources share: `Place`, `Segment`, `Survey`, `Source`, `open_source`
discovery         `find_exams`: from the paths of a user to exams and their heads
reader            `FrameReader`: any screened frame by its number
image_file        decode one image file
image_source      a folder or archive of images
video_container   open a video file and read its packets
video_losses      truncated files and missing frames; with the structure of each container in
                  mp4_losses, avi_losses, matroska_losses, asf_losses and mpeg_losses, and
                  file_gaps for all
video_segments    cut a video into segments that decode independently
video_decoder     packets to pictures, pictures to RGB; ffv1_checks for its checksums
video_pictures    random access to the pictures of a video
video_source      a stream of a video

A new kind of source is a class with the methods of `Source` in a module of its own, an entry in
`base`, and in `discovery` how it is recognised.
"""
