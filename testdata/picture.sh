#!/bin/sh
# Prints picture.svg, the picture of the README: what grep and convtools answer on the bundled sample.
set -eu
. "$(dirname "$0")/sample.sh"
question='why do we retry with a cap of 5 minutes?'
{
  printf '$ grep -ri "cap of 5 minutes" .\n'
  grep -ri "cap of 5 minutes" . || printf '(nothing)\n'
  printf '\n$ convtools recall %s\n' "$question"
  "$CONVTOOLS" recall --limit 4 "$question" | sed 's/^ *$//'
} | fold -s -w 92 | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/  */ /g; s/ $//' >"$tmp/lines"
height=$(($(wc -l <"$tmp/lines") * 20 + 40))
printf '<svg xmlns="http://www.w3.org/2000/svg" width="820" height="%s" font-family="monospace" font-size="14">\n' "$height"
printf '<rect width="100%%" height="100%%" rx="8" fill="#1e2430"/>\n'
y=30
while IFS= read -r line; do
  case $line in
    '$'*) color='#8fd0a5' ;;
    *) color='#d8dee9' ;;
  esac
  printf '<text x="20" y="%s" fill="%s">%s</text>\n' "$y" "$color" "$line"
  y=$((y + 20))
done <"$tmp/lines"
printf '</svg>\n'
