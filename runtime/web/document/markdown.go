package document

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newMarkdown returns the reader of messages: CommonMark with tables, in which HTML is text.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParserOptions(parser.WithParagraphTransformers(util.Prioritized(tableTransformer{}, 200))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))),
	)
}

// message returns a message in Markdown as HTML.
func (r *Renderer) message(said string) template.HTML {
	var b bytes.Buffer
	if err := r.markdown.Convert([]byte(said), &b); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(said) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(b.String()) //nolint:gosec // nodes writes it, and goldmark without its option for raw HTML
}

// nodes writes the nodes of a message for which goldmark has other HTML: links, images, raw HTML, headings and tables.
type nodes struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (n nodes) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindLink, func(w util.BufWriter, _ []byte, node ast.Node, enters bool) (ast.WalkStatus, error) {
		return link(w, node.(*ast.Link).Destination, enters)
	})
	register.Register(ast.KindImage, func(w util.BufWriter, _ []byte, node ast.Node, enters bool) (ast.WalkStatus, error) {
		return link(w, node.(*ast.Image).Destination, enters)
	})
	register.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, node ast.Node, enters bool) (ast.WalkStatus, error) {
		if enters {
			auto := node.(*ast.AutoLink)
			_, _ = link(w, auto.URL(source), true)
			_, _ = w.Write(util.EscapeHTML(auto.Label(source)))
			_, _ = link(w, auto.URL(source), false)
		}
		return ast.WalkContinue, nil
	})
	register.Register(ast.KindRawHTML, rawHTML)
	register.Register(ast.KindHTMLBlock, htmlBlock)
	register.Register(ast.KindHeading, heading)
	registerTables(register)
}

// link writes the start tag of a link if enters is true, otherwise the end tag. It writes no tags for a link to anything
// but a page of the web or a mailbox.
func link(w util.BufWriter, to []byte, enters bool) (ast.WalkStatus, error) {
	address, err := url.Parse(string(to))
	if err != nil || !slices.Contains([]string{"http", "https", "mailto"}, address.Scheme) {
		return ast.WalkContinue, nil
	}
	if enters {
		_, _ = w.WriteString(`<a rel="noopener noreferrer" target="_blank" href="`)
		_, _ = w.Write(util.EscapeHTML(util.URLEscape(to, true)))
		_, _ = w.WriteString(`">`)
	} else {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// rawHTML writes HTML within a line as text.
func rawHTML(w util.BufWriter, source []byte, node ast.Node, enters bool) (ast.WalkStatus, error) {
	if enters {
		_, _ = w.Write(util.EscapeHTML(node.(*ast.RawHTML).Segments.Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

// htmlBlock writes lines of HTML as text.
func htmlBlock(w util.BufWriter, source []byte, node ast.Node, enters bool) (ast.WalkStatus, error) {
	if enters {
		block := node.(*ast.HTMLBlock)
		said := block.Lines().Value(source)
		if block.HasClosure() {
			said = append(bytes.Clone(said), block.ClosureLine.Value(source)...)
		}
		_, _ = w.WriteString("<p>")
		_, _ = w.Write(util.EscapeHTML(bytes.TrimSpace(said)))
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkSkipChildren, nil
}

// heading writes a heading of a message as a line in bold: the headings of a document are its requests.
func heading(w util.BufWriter, _ []byte, _ ast.Node, enters bool) (ast.WalkStatus, error) {
	if enters {
		_, _ = w.WriteString("<p class=\"heading\"><strong>")
	} else {
		_, _ = w.WriteString("</strong></p>\n")
	}
	return ast.WalkContinue, nil
}

// plain returns a message in Markdown with a backslash before each "<", and before each "[" of an image, except in code:
// programs that show Markdown then show HTML and images as text.
func (r *Renderer) plain(said string) string {
	source := []byte(said)
	isCode := make([]bool, len(source)+1) // by byte of source
	_ = ast.Walk(r.markdown.Parser().Parse(gmtext.NewReader(source)), func(node ast.Node, enters bool) (ast.WalkStatus, error) {
		if !enters {
			return ast.WalkContinue, nil
		}
		switch node.Kind() {
		case ast.KindCodeBlock, ast.KindFencedCodeBlock:
			for _, line := range node.Lines().Sliced(0, node.Lines().Len()) {
				setAll(isCode[line.Start:line.Stop])
			}
		case ast.KindText:
			if segment := node.(*ast.Text).Segment; node.Parent().Kind() == ast.KindCodeSpan {
				setAll(isCode[segment.Start:segment.Stop])
			}
		}
		return ast.WalkContinue, nil
	})
	var b strings.Builder
	for i, c := range source {
		beginsImage := c == '[' && i > 0 && source[i-1] == '!'
		if (c == '<' || beginsImage) && !isCode[i] {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// setAll sets all flags.
func setAll(flags []bool) {
	for i := range flags {
		flags[i] = true
	}
}
