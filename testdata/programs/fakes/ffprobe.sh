# An ffprobe that knows one film: ffprobe.sh -v error -print_format json -show_format -show_streams FILE
for file; do :; done
test "$file" = ./film.mkv || { echo "$file: No such file or directory" >&2; exit 1; }
cat <<'JSON'
{
    "streams": [
        {"index": 0, "codec_name": "h264", "codec_type": "video", "width": 1920, "height": 800, "avg_frame_rate": "24000/1001"},
        {"index": 1, "codec_name": "aac", "codec_type": "audio", "sample_rate": "48000", "channels": 6, "tags": {"language": "eng", "title": "Director's \"cut\" <b>"}}
    ],
    "format": {"filename": "./film.mkv", "nb_streams": 2, "format_name": "matroska,webm", "duration": "5400.021000", "size": "734003200"}
}
JSON
