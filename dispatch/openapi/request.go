package openapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/internal/text"
)

// request makes the requests of one operation.
type request struct {
	client *http.Client
	header http.Header
	base   *url.URL
	method string
	path   string
	places []place
	body   body
}

// place is where a parameter of the tool goes.
type place struct {
	name    string // of the tool's parameter
	key     string // in the request
	in      string
	style   string
	explode bool
	json    bool // it is written as JSON
}

// body is what a request's body is made of.
type body struct {
	mediaType string
	whole     string   // the parameter that is all of it
	members   []string // parameters that are its members, by their names in the body
	names     []string // the same by their names in the tool
}

// ownHeaders are headers that the document may not set.
var ownHeaders = []string{"accept", "authorization", "content-type", "cookie", "host", "content-length", "connection", "transfer-encoding"}

// parameters adds an operation's parameters to a tool's schema. Those of the operation
// stand behind those of its path, which they replace.
func (r *request) parameters(s *schema, list openapi3.Parameters) error {
	kept := list[:0:0]
	for i, p := range list {
		if p.Value == nil || slices.ContainsFunc(list[i+1:], func(o *openapi3.ParameterRef) bool {
			return o.Value != nil && o.Value.Name == p.Value.Name && o.Value.In == p.Value.In
		}) {
			continue
		}
		kept = append(kept, p)
	}
	for _, ref := range kept {
		p := ref.Value
		at := place{key: p.Name, in: p.In}
		if p.In == openapi3.ParameterInHeader && slices.Contains(ownHeaders, strings.ToLower(p.Name)) {
			continue
		}
		source := p.Schema
		if source == nil {
			media := p.Content.Get("application/json")
			if media == nil {
				return fmt.Errorf("parameter %q has neither a schema nor JSON content", p.Name)
			}
			source, at.json = media.Schema, true
		}
		method, err := p.SerializationMethod()
		if err != nil {
			return fmt.Errorf("parameter %q: %w", p.Name, err)
		}
		at.style, at.explode = method.Style, method.Explode
		converted, err := s.ref(source)
		if err != nil {
			return fmt.Errorf("parameter %q: %w", p.Name, err)
		}
		at.name = s.add(p.Name, p.In, converted, p.Description, p.Required || p.In == openapi3.ParameterInPath)
		r.places = append(r.places, at)
	}
	return nil
}

// ref converts a schema of the library.
func (s *schema) ref(source *openapi3.SchemaRef) (any, error) {
	if source == nil {
		return map[string]any{}, nil
	}
	data, err := json.Marshal(source)
	if err != nil {
		return nil, err
	}
	m, err := decode(data)
	if err != nil {
		return nil, err
	}
	return s.convert(m, 0)
}

// bodyTypes are the media types of bodies that can be written, the best first.
var bodyTypes = []string{"application/json", "application/x-www-form-urlencoded", "text/plain"}

// takeBody adds an operation's body to a tool's schema.
func (r *request) takeBody(s *schema, b *openapi3.RequestBody) error {
	var media *openapi3.MediaType
	for _, t := range bodyTypes {
		for _, name := range text.SortedKeys(b.Content) {
			base, _, err := mime.ParseMediaType(name)
			if err == nil && (base == t || t == "application/json" && strings.HasSuffix(base, "+json")) && media == nil {
				media, r.body.mediaType = b.Content[name], name
			}
		}
	}
	if media == nil {
		if !b.Required {
			return nil
		}
		return fmt.Errorf("its body cannot be written: %s", strings.Join(text.SortedKeys(b.Content), ", "))
	}
	converted, err := s.ref(media.Schema)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if !r.mergeBody(s, media.Schema) {
		r.body.whole = s.add("body", "body", converted, b.Description, b.Required)
	}
	return nil
}

// plainKeywords are those of a schema that says no more than which members an object has.
var plainKeywords = []string{"type", "properties", "required", "title", "description", "additionalProperties", "example", "examples"}

// mergeBody makes the members of a body parameters of the tool, and reports false if it is
// no plain object, or has a name that a parameter has.
func (r *request) mergeBody(s *schema, source *openapi3.SchemaRef) bool {
	if source == nil {
		return false
	}
	data, err := json.Marshal(source)
	if err != nil {
		return false
	}
	m, err := decode(data)
	if err != nil {
		return false
	}
	plain := s.resolved(m)
	for k := range plain {
		if !slices.Contains(plainKeywords, k) {
			return false
		}
	}
	properties, _ := plain["properties"].(map[string]any)
	if more, ok := plain["additionalProperties"]; ok && more != false || len(properties) == 0 {
		return false
	}
	for name := range properties {
		if _, taken := s.properties[name]; taken {
			return false
		}
	}
	object, err := s.object(plain, 0)
	if err != nil {
		return false
	}
	members, _ := object["properties"].(map[string]any)
	needed, _ := object["required"].([]any)
	for _, name := range text.SortedKeys(members) {
		added := s.add(name, "body", members[name], "", slices.Contains(needed, any(name)))
		r.body.members, r.body.names = append(r.body.members, name), append(r.body.names, added)
	}
	return true
}

// run sends the request of a call.
func (r *request) run(ctx context.Context, c *dispatch.Call) (dispatch.Result, error) {
	req, err := r.build(ctx, c.Parameters)
	if err != nil {
		return dispatch.Result{}, &dispatch.Error{Code: dispatch.CodeInvalid, Message: err.Error(), Err: err}
	}
	response, err := r.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return dispatch.Result{}, ctx.Err()
		}
		failed := &dispatch.Error{Code: dispatch.CodeUnavailable, Message: "the server cannot be reached", Err: err}
		return dispatch.Result{}, dispatch.Transient(failed)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return dispatch.Result{}, dispatch.Transient(fmt.Errorf("the answer broke off: %w", err))
	case response.StatusCode < 200 || response.StatusCode > 299:
		return dispatch.Result{}, problem(response, data)
	case len(data) > maxAnswer:
		return dispatch.Result{}, fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	return result(response.Header.Get("Content-Type"), data), nil
}

// problem makes the error of an answer that is no success.
func problem(response *http.Response, data []byte) error {
	message := fmt.Sprintf("HTTP %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	if to := response.Header.Get("Location"); to != "" {
		message += fmt.Sprintf(" (to %s, which is not followed)", text.Clip(to, 200))
	}
	if len(data) > 0 {
		message += ": " + strings.ToValidUTF8(text.Clip(string(data), maxProblem), "\uFFFD")
	}
	err := error(&dispatch.Error{Code: dispatch.CodeFailed, Message: message})
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return dispatch.Transient(err)
	}
	return err
}

// result makes the result of a body.
func result(contentType string, data []byte) dispatch.Result {
	base, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		base = ""
	}
	switch {
	case len(data) == 0:
		return dispatch.Result{Text: "done", Value: map[string]any{}}
	case base == "application/json" || strings.HasSuffix(base, "+json"):
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err == nil {
			return dispatch.Result{Text: string(data), Value: v}
		}
	case strings.HasPrefix(base, "image/"), strings.HasPrefix(base, "audio/"):
		media := adapters.Media{MIMEType: base, Data: base64.StdEncoding.EncodeToString(data)}
		return dispatch.Result{Media: []adapters.Media{media}, Value: map[string]any{"mime_type": base, "bytes": len(data)}}
	case base == "application/octet-stream", strings.HasPrefix(base, "video/"), base == "application/pdf", base == "application/zip":
		return dispatch.Result{Text: fmt.Sprintf("[%s, %d bytes, not shown]", base, len(data))}
	}
	return dispatch.Result{Text: string(data)}
}

// build makes the request of a call.
func (r *request) build(ctx context.Context, parameters map[string]any) (*http.Request, error) {
	path, query := r.path, []string(nil)
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	for _, p := range r.places {
		v, there := parameters[p.name]
		if !there || v == nil {
			continue
		}
		switch p.in {
		case openapi3.ParameterInPath:
			value := p.simple(v, url.PathEscape)
			if value == "" || value == "." || value == ".." {
				return nil, fmt.Errorf("%s: %q cannot stand in the address", p.name, value)
			}
			path = strings.ReplaceAll(path, "{"+p.key+"}", value)
		case openapi3.ParameterInQuery:
			query = append(query, p.query(v)...)
		case openapi3.ParameterInHeader:
			header.Set(p.key, p.simple(v, func(s string) string { return s }))
		case openapi3.ParameterInCookie:
			header.Add("Cookie", p.key+"="+url.QueryEscape(scalar(v)))
		}
	}
	if strings.Contains(path, "{") {
		return nil, fmt.Errorf("a parameter of the path %s is missing", r.path)
	}
	content, mediaType, err := r.content(parameters)
	if err != nil {
		return nil, err
	}
	address := strings.TrimSuffix(r.base.String(), "/") + path
	if len(query) > 0 {
		address += "?" + strings.Join(query, "&")
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, content)
	if err != nil {
		return nil, err
	}
	if req.URL.Host != r.base.Host || req.URL.Scheme != r.base.Scheme {
		return nil, errors.New("the address leads to another server")
	}
	req.Header = header
	req.Header.Set("Accept", "application/json, */*;q=0.5")
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	return req, nil
}

// content returns the body of a call, and its type.
func (r *request) content(parameters map[string]any) (io.Reader, string, error) {
	var v any
	switch {
	case r.body.whole != "":
		given, there := parameters[r.body.whole]
		if !there {
			return nil, "", nil
		}
		v = given
	case r.body.members != nil:
		m := map[string]any{}
		for i, name := range r.body.members {
			if given, there := parameters[r.body.names[i]]; there {
				m[name] = given
			}
		}
		v = m
	default:
		return nil, "", nil
	}
	base, _, _ := mime.ParseMediaType(r.body.mediaType) // it was read before
	switch base {
	case "text/plain":
		return strings.NewReader(scalar(v)), r.body.mediaType, nil
	case "application/x-www-form-urlencoded":
		m, ok := v.(map[string]any)
		if !ok {
			return nil, "", errors.New("a form's body must be an object")
		}
		form := place{style: openapi3.SerializationForm, explode: true}
		return strings.NewReader(strings.Join(form.query(m), "&")), r.body.mediaType, nil
	}
	data, err := encode(v)
	if err != nil {
		return nil, "", err
	}
	return bytes.NewReader(data), r.body.mediaType, nil
}
