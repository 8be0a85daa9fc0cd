// Package openapi makes tools of an OpenAPI 3 document: each operation becomes a tool whose
// calls are HTTP requests.
//
// The parameters of an operation and the members of its body are the tool's parameters, as
// one object; a body that is no plain object is the parameter "body". The document is read
// from memory alone: references to other files and servers are errors.
package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/internal/safehttp"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// Options say which tools a document gives, and how they are called. The zero value is
// usable where the document names its server.
type Options struct {
	// BaseURL is the address of the server; "" means the first one that the document
	// names.
	BaseURL string
	// Header is sent with each request, credentials for instance. It needs a BaseURL: what
	// a document names is given no credentials.
	Header http.Header
	// Only are patterns of the names of tools, in which "*" stands for any text; nil takes
	// all.
	Only []string
	// Client sends the requests; nil is a client that follows no redirects.
	Client *http.Client
}

// Errors of documents.
var (
	ErrNoServer = errors.New("the document names no server with an http address: give a base URL")
	ErrHeader   = errors.New("headers are sent to a base URL only, not to the server that a document names: give one")
	ErrTooLarge = fmt.Errorf("the document is larger than %d bytes", maxDocument)
)

// Limits, in bytes.
const (
	maxDocument = 16 << 20
	maxAnswer   = 8 << 20
	maxProblem  = 2 << 10 // of an error's body
)

// Document is what an OpenAPI document gives.
type Document struct {
	Title   string
	BaseURL string
	Tools   []dispatch.Tool
	// Skipped says which operations are no tools, and why, as "GET /path: reason".
	Skipped []string
}

// Parse reads an OpenAPI document of version 3, JSON or YAML. Tools of GET and HEAD are
// read-only, those of PUT and DELETE destructive and idempotent. Their results are the
// bodies of answers; a status other than 2xx is an error.
func Parse(data []byte, o Options) (*Document, error) {
	if len(data) > maxDocument {
		return nil, ErrTooLarge
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("not an OpenAPI document: %w", err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, fmt.Errorf("not an OpenAPI document of version 3: its version is %q", doc.OpenAPI)
	}
	base, err := baseURL(doc, &o)
	if err != nil {
		return nil, err
	}
	if o.Client == nil {
		o.Client = safehttp.Client(safehttp.Transport(5*time.Second, 5*time.Minute))
	}
	encoded, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("the document cannot be written as JSON: %w", err)
	}
	b := builder{options: &o, base: base, out: &Document{BaseURL: base.String()}, names: map[string]bool{}}
	if b.root, err = decode(encoded); err != nil {
		return nil, err
	}
	if doc.Info != nil {
		b.out.Title = doc.Info.Title
	}
	if doc.Paths != nil {
		for _, path := range text.SortedKeys(doc.Paths.Map()) {
			item := doc.Paths.Value(path)
			for _, method := range text.SortedKeys(item.Operations()) {
				if err := b.operation(method, path, item); err != nil {
					b.out.Skipped = append(b.out.Skipped, fmt.Sprintf("%s %s: %v", method, path, err))
				}
			}
		}
	}
	return b.out, nil
}

// baseURL returns the address that requests go to.
func baseURL(doc *openapi3.T, o *Options) (*url.URL, error) {
	if o.BaseURL != "" {
		return safehttp.ParseURL(o.BaseURL)
	}
	if len(o.Header) > 0 {
		return nil, ErrHeader
	}
	for _, s := range doc.Servers {
		address := s.URL
		for name, v := range s.Variables {
			address = strings.ReplaceAll(address, "{"+name+"}", v.Default)
		}
		if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
			return safehttp.ParseURL(address)
		}
	}
	return nil, ErrNoServer
}

// builder makes the tools of a document.
type builder struct {
	options *Options
	base    *url.URL
	root    map[string]any // the document as decoded JSON
	out     *Document
	names   map[string]bool
}

// operation makes a tool of one operation.
func (b *builder) operation(method, path string, item *openapi3.PathItem) error {
	op := item.GetOperation(method)
	name := b.name(op.OperationID, method, path)
	if b.options.Only != nil && !slices.ContainsFunc(b.options.Only, func(p string) bool { return adapters.Matches(p, name) }) {
		return nil
	}
	s := newSchema(b.root)
	r := &request{client: b.options.Client, header: b.options.Header, base: b.base, method: method, path: path}
	if err := r.parameters(s, slices.Concat(item.Parameters, op.Parameters)); err != nil {
		return err
	}
	if op.RequestBody != nil && op.RequestBody.Value != nil {
		if err := r.takeBody(s, op.RequestBody.Value); err != nil {
			return err
		}
	}
	b.names[name] = true
	b.out.Tools = append(b.out.Tools, dispatch.Tool{
		Tool: registry.Tool{Name: name, Description: description(op, method, path), Parameters: s.done()},
		Run:  r.run,
		Hints: dispatch.Hints{
			ReadOnly: method == http.MethodGet || method == http.MethodHead, OpenWorld: true,
			Destructive: method == http.MethodDelete || method == http.MethodPut,
			Idempotent:  method == http.MethodDelete || method == http.MethodPut,
		},
	})
	return nil
}

// maxName is the length that all model servers take for a tool's name.
const maxName = 64

// name makes the name of a tool, unique in the document: of letters, digits, "_" and "-".
func (b *builder) name(id, method, path string) string {
	if id == "" {
		id = strings.ToLower(method) + path
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	name = strings.Trim(strings.ReplaceAll(name, "__", "_"), "_")
	name = name[:min(len(name), maxName)]
	unique := name
	for i := 2; b.names[unique] || unique == ""; i++ {
		more := fmt.Sprintf("_%d", i)
		unique = name[:min(len(name), maxName-len(more))] + more
	}
	return unique
}

// maxDescription bounds a tool's description, in bytes.
const maxDescription = 1024

func description(op *openapi3.Operation, method, path string) string {
	s := strings.TrimSpace(op.Summary)
	if d := strings.TrimSpace(op.Description); d != "" && d != s {
		if s != "" {
			s = strings.TrimSuffix(s, ".") + ". "
		}
		s += d
	}
	if s == "" {
		s = method + " " + path
	}
	return text.Clip(s, maxDescription)
}
