package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// hostileTexts are recordings that want to be more than text.
func hostileTexts() []string {
	return []string{
		`<script>window.hacked = 1</script>`,
		`"><img src=x onerror="window.hacked = 2"><a x="`,
		`'><svg onload='window.hacked = 3'>`,
		`</title></pre></code></summary></details></main></body><h1 id="escaped">out</h1>`,
		`<iframe srcdoc="<script>parent.hacked = 4</script>"></iframe><object data="x"></object><embed src="x">`,
		`<style>body { display: none }</style><link rel="stylesheet" href="http://127.0.0.1:1/x.css">`,
		`<meta http-equiv="refresh" content="0;url=http://127.0.0.1:1/"><base href="http://127.0.0.1:1/">`,
		`<form action="http://127.0.0.1:1/"><input autofocus onfocus="window.hacked = 5"><button>x</button></form>`,
		`<details open ontoggle="window.hacked = 6"><summary>x</summary></details>`,
		"[a](javascript:window.hacked=7) ![b](http://127.0.0.1:1/pixel.png) <javascript:window.hacked=8>",
		"[c]: javascript:window.hacked=9\n\n[c] ![c]",
		"```\"><script>window.hacked = 10</script>\n</code></pre><script>window.hacked = 11</script>\n",
		"| a |\n|---|\n| <img src=x onerror=window.hacked=12> |\n",
		"<!-- <![CDATA[ ]]> --!> -->\n<![CDATA[<script>window.hacked = 13</script>]]>",
		`{{.}} {{template "top"}} ${window.hacked = 14} javascript:window.hacked=15`,
		"\u202e\u2066 \u200b\ufeff \x1b]8;;http://127.0.0.1:1/\a",
		"data: x\n\nevent: y\ndata: <script>window.hacked = 16</script>\n\n",
		`*** Begin Patch` + "\n*** Update File: <script>window.hacked = 17</script>\n@@\n-<b>\n+</pre><script>window.hacked = 18</script>\n*** End Patch\n",
	}
}

// fillHostile writes sessions and knowledge with hostile texts in every place.
func fillHostile(l *lab) error {
	var topics string
	for i, said := range hostileTexts() {
		use := record{"type": "tool_use", "id": "t", "name": said, "input": record{
			"file_path": said, "old_string": said, "new_string": said + "\n" + said, "command": said, said: said,
		}}
		result := record{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": said}
		cwd := []string{l.project, filepath.Join(l.project, said)}[i%2] // every second session is in a folder with such a name
		err := l.writeSession(fmt.Sprintf("22222222-2222-4222-8222-%012d", i), cwd, said,
			said, []any{record{"type": "thinking", "thinking": said}, record{"type": "text", "text": said}, use}, []any{result}, said+"\n\n"+said)
		quoted, err1 := json.Marshal(said) // as TOML has it too
		topics += fmt.Sprintf("[kb.topic.t%d]\ntitle = %s\nintroduction = %[2]s\nsubjects = \"kb\"\n\n", i, quoted)
		if err = errors.Join(err, err1); err != nil {
			return err
		}
	}
	return errors.Join(
		writeFile(filepath.Join(l.project, "kb", "<img src=x onerror=window.hacked=20>.md"), hostileTexts()[0]),
		writeFile(filepath.Join(l.project, "convtools.toml"), topics+"[model.demo]\napi = \"scripted\"\nscript = \"demo.toml\"\n"),
		writeFile(filepath.Join(l.project, "demo.toml"), "[[conversation]]\n[[conversation.response]]\ntext = '''"+hostileTexts()[1]+"'''\nrepeat = true\n"),
	)
}

// hostile opens every page and exports every conversation, and checks that no recorded script ran and that no recorded
// text became an element.
func hostile(l *lab) (string, error) {
	const ownScripts = 1 // every page has /script.js
	err := l.query(hostileTexts()[3])
	pages := []string{"/", "/?all=1", "/?all=1&q=script+hacked", "/?q=%3Cscript%3Ewindow.hacked=21%3C/script%3E", "/?project=%22%3E%3Cscript%3E&from=%22%3E", "/p/knowledge", "/p/sessions", "/c/%3Cscript%3E", "/p/%3Cscript%3E"}
	for i := range hostileTexts() {
		pages = append(pages, fmt.Sprintf("/c/claude-22222222-2222-4222-8222-%012d", i))
	}
	for _, page := range pages {
		err = errors.Join(err, l.open(page), l.checkElements(page, ownScripts))
	}
	err = errors.Join(err, l.open("/p/knowledge"), l.do(chromedp.Click(".items ul a")), l.until(`document.readyState === "complete" && document.querySelector("pre.content")`), l.checkElements("a subject", ownScripts))
	for i := range hostileTexts() {
		err = errors.Join(err, l.export(fmt.Sprintf("claude-22222222-2222-4222-8222-%012d", i)))
	}
	return fmt.Sprintf("%d texts in every place of %d pages and %[1]d exports", len(hostileTexts()), len(pages)+1), err
}

// checkElements returns an error if the page in the tab has other elements than its own, or if a recorded script has
// run. scripts is the number of its own scripts.
func (l *lab) checkElements(name string, scripts int) error {
	const look = `(() => {
		document.querySelectorAll("details").forEach((d) => { d.open = true });
		const odd = [...document.querySelectorAll("script, img, iframe, object, embed, style, base, form, [onerror], [onload], [onfocus], [ontoggle], [style], meta[http-equiv=refresh], #escaped")]
			.filter((e) => !e.matches("script[src='/script.js'], form.box, form.filters, dialog form, head > style"));
		const links = [...document.querySelectorAll("a[href]")]
			.filter((a) => !/^(https?|mailto|file):$/.test(new URL(a.getAttribute("href"), location.href).protocol));
		const scripts = document.querySelectorAll("script").length;
		return [...odd, ...links].map((e) => e.outerHTML.slice(0, 200)).concat(window.hacked ? ["script " + window.hacked + " ran"] : [], "scripts: " + scripts);
	})()`
	found, err := ask[[]string](l, look)
	if err == nil && (len(found) != 1 || found[0] != fmt.Sprintf("scripts: %d", scripts)) {
		err = fmt.Errorf("%s has %q", name, found)
	}
	return err
}

// export writes a conversation as one file, opens the file in the tab and checks its elements. It expects no scripts.
func (l *lab) export(id string) error {
	command := exec.Command(l.convtools, "conversation", "print", "--all-projects", "--format", "html", id) //nolint:gosec // built here
	command.Dir, command.Env = l.project, l.env()
	written, err := command.Output()
	if err != nil {
		return fmt.Errorf("exporting %s: %w", id, err)
	}
	file := filepath.Join(l.dir, id+".html")
	err = writeFile(file, string(written))
	return errors.Join(err, l.do(chromedp.Navigate("file://"+file), chromedp.WaitReady("main.export")), l.checkElements(file, 0))
}
