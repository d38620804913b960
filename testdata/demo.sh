#!/bin/sh
# The main job on the bundled sample: a week of a small project that was worked on
# with Claude Code and with Codex. Each answer is below the command that gave it.
set -eu
. "$(dirname "$0")/sample.sh"
PATH=$(dirname "$CONVTOOLS"):$PATH # install registers a program by its name where that is enough

show() {
  printf '\n%s\n$ convtools' "# $1"
  shift
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9=,._/-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$CONVTOOLS" "$@" >"$tmp/answer" 2>&1 || { cat "$tmp/answer"; exit 1; }
  sed "s|$tmp|~|g" "$tmp/answer"
}

show "A week of a project, held with two agents" conversation ls
show "You ask" recall --limit 3 'why SQLite and not Postgres?'
show "Your agent asks, and sees this" call conversation_recall 'query=how do we retry when the operator answers 429, and why that cap?'
show "How it gets the tools" install claude-code --dry-run
printf '\nIn a project of yours: convtools recall WORDS…, then convtools install claude-code (or codex, opencode, …).\nTo look at them: convtools web.\n'
