// Command drawing draws what a model said: it reads a reply of any provider, or any text
// with calls in it, and writes the picture as SVG.
//
//	go run ./examples/drawing testdata/fragments.txt > picture.svg
package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"strings"

	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
)

// Rectangle is what create_rectangle takes. What a model leaves out has a default.
type Rectangle struct {
	X            float64 `json:"x"`
	Y            float64 `json:"y"`
	Width        float64 `json:"width" jsonschema:"minimum=1"`
	Height       float64 `json:"height" jsonschema:"minimum=1"`
	CornerRadius float64 `json:"cornerRadius,omitempty" jsonschema:"default=8,minimum=0"`
	Fill         string  `json:"fill,omitempty" jsonschema:"default=#3B82F6"`
}

// Corners is what set_corner_radius takes, for one layer: the selected one unless it says so.
type Corners struct {
	Layer  string  `json:"layer"`
	Radius float64 `json:"radius" jsonschema:"minimum=0"`
}

// Shadow is what add_drop_shadow takes.
type Shadow struct {
	Layer   string  `json:"layer"`
	OffsetX float64 `json:"offsetX,omitempty"`
	OffsetY float64 `json:"offsetY,omitempty" jsonschema:"default=4"`
	Blur    float64 `json:"blur,omitempty" jsonschema:"default=12,minimum=0"`
	Color   string  `json:"color,omitempty"`
}

// layer is a rectangle of the picture.
type layer struct {
	ID string
	Rectangle
	shadow Shadow
}

// picture is the document of the application. It draws one thing at a time.
type picture struct{ layers []*layer }

// theme is the shadow that every layer has, unless it is given another one.
var theme = Shadow{OffsetY: 4, Blur: 12, Color: "rgba(0,0,0,0.1)"}

func (p *picture) find(id string) (*layer, error) {
	for _, l := range p.layers {
		if l.ID == id {
			return l, nil
		}
	}
	return nil, fmt.Errorf("there is no layer %q", id)
}

// tools makes the application's functions tools.
func (p *picture) tools() *dispatch.Dispatcher {
	d := &dispatch.Dispatcher{Parallel: 1}
	dispatch.Handle(d, "create_rectangle", func(_ context.Context, in Rectangle) (map[string]string, error) {
		l := &layer{ID: fmt.Sprintf("layer_%d", len(p.layers)+1), Rectangle: in, shadow: theme}
		p.layers = append(p.layers, l)
		return map[string]string{"id": l.ID}, nil
	}).Description = "Draws a rectangle and selects it"
	selected := func(context.Context, *dispatch.Call, *dispatch.Context) (any, error) {
		if len(p.layers) == 0 {
			return nil, nil // then the model is told that the layer is missing
		}
		return p.layers[len(p.layers)-1].ID, nil
	}
	for _, t := range []*dispatch.Tool{
		dispatch.Handle(d, "set_corner_radius", func(_ context.Context, in Corners) (string, error) {
			l, err := p.find(in.Layer)
			if err == nil {
				l.CornerRadius = in.Radius
			}
			return "rounded", err
		}),
		dispatch.Handle(d, "add_drop_shadow", func(_ context.Context, in Shadow) (string, error) {
			l, err := p.find(in.Layer)
			if err == nil {
				if in.Color == "" {
					in.Color = theme.Color
				}
				l.shadow = in
			}
			return "shadowed", err
		}),
	} {
		t.Dependencies = []string{"create_rectangle"} // it runs behind those of the same reply
		t.Resolve = map[string]dispatch.Resolver{"layer": selected}
	}
	return d
}

// svg writes the picture.
func (p *picture) svg(w io.Writer) {
	fmt.Fprintln(w, `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="240">`)
	for _, l := range p.layers {
		fmt.Fprintf(w, `  <rect id="%s" x="%g" y="%g" width="%g" height="%g" rx="%g" fill="%s"`,
			l.ID, l.X, l.Y, l.Width, l.Height, l.CornerRadius, html.EscapeString(l.Fill))
		s := &l.shadow
		fmt.Fprintf(w, " style=\"filter: drop-shadow(%gpx %gpx %gpx %s)\"/>\n", s.OffsetX, s.OffsetY, s.Blur, html.EscapeString(s.Color))
	}
	fmt.Fprintln(w, "</svg>")
}

// read finds the calls in a provider's reply, or in a text.
func read(ctx context.Context, p *parser.Parser, data []byte) (*parser.Result, error) {
	if found := formats.DetectFormat(data); found.Confidence >= formats.Sure {
		reply, err := found.Format.DecodeReply(data)
		if err != nil {
			return nil, err
		}
		return p.ParseReply(ctx, reply, parser.Context{})
	}
	return p.Parse(ctx, string(data), parser.Context{})
}

// draw draws what a model said. Calls that failed are told to warn.
func draw(ctx context.Context, said []byte, out, warn io.Writer) error {
	var p picture
	d := p.tools()
	reader, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		return err
	}
	result, err := read(ctx, reader, said)
	if err != nil {
		return err
	}
	d.Policy.Rules = []dispatch.Rule{{Do: dispatch.Allow}} // what is drawn harms nobody
	report, err := d.Run(ctx, result, nil)
	if err != nil {
		return err
	}
	for i := range report.Results {
		if r := &report.Results[i]; r.Err != nil {
			fmt.Fprintln(warn, r.Err)
		}
	}
	p.svg(out)
	return nil
}

func main() {
	said, err := io.ReadAll(os.Stdin)
	if len(os.Args) > 1 {
		said, err = os.ReadFile(os.Args[1])
	}
	if err == nil {
		err = draw(context.Background(), said, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
}
