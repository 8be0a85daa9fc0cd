package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/callwright/callwright/internal/text"
)

// How values are written (OpenAPI 3.1, "Style Values").

// scalar writes a value as text: a string as it is, anything else as JSON.
func scalar(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := encode(v)
	if err != nil { // decoded JSON can be written
		return fmt.Sprint(v)
	}
	return string(data)
}

// encode writes JSON with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// simple writes a value for a path or a header: "simple", and in paths "label" and
// "matrix".
func (p *place) simple(v any, escape func(string) string) string {
	if p.json {
		return escape(scalar(v))
	}
	start, separator := "", ","
	switch p.style {
	case openapi3.SerializationLabel:
		start = "."
		if p.explode {
			separator = "."
		}
	case openapi3.SerializationMatrix:
		start = ";" + escape(p.key) + "="
		if p.explode {
			separator = start
		}
	}
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = escape(scalar(e))
		}
		return start + strings.Join(parts, separator)
	case map[string]any:
		var parts []string
		for _, k := range text.SortedKeys(v) {
			if p.explode {
				parts = append(parts, escape(k)+"="+escape(scalar(v[k])))
			} else {
				parts = append(parts, escape(k), escape(scalar(v[k])))
			}
		}
		if p.style == openapi3.SerializationMatrix && p.explode {
			start, separator = ";", ";"
		}
		return start + strings.Join(parts, separator)
	}
	return start + escape(scalar(v))
}

// query writes a value for a query, as pairs: "form", "spaceDelimited", "pipeDelimited"
// and "deepObject".
func (p *place) query(v any) []string {
	pair := func(k string, v any) string { return url.QueryEscape(k) + "=" + url.QueryEscape(scalar(v)) }
	if p.json {
		return []string{pair(p.key, v)}
	}
	switch v := v.(type) {
	case []any:
		if p.explode || p.style == openapi3.SerializationDeepObject {
			out := make([]string, len(v))
			for i, e := range v {
				out[i] = pair(p.key, e)
			}
			return out
		}
		separator := ","
		switch p.style {
		case openapi3.SerializationSpaceDelimited:
			separator = "%20"
		case openapi3.SerializationPipeDelimited:
			separator = "|"
		}
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = url.QueryEscape(scalar(e))
		}
		return []string{url.QueryEscape(p.key) + "=" + strings.Join(parts, separator)}
	case map[string]any:
		var out, flat []string
		for _, k := range text.SortedKeys(v) {
			switch {
			case p.style == openapi3.SerializationDeepObject:
				out = append(out, url.QueryEscape(p.key)+"["+url.QueryEscape(k)+"]="+url.QueryEscape(scalar(v[k])))
			case p.explode:
				if list, ok := v[k].([]any); ok {
					for _, e := range list {
						out = append(out, pair(k, e))
					}
					continue
				}
				out = append(out, pair(k, v[k]))
			default:
				flat = append(flat, url.QueryEscape(k), url.QueryEscape(scalar(v[k])))
			}
		}
		if flat != nil {
			out = append(out, url.QueryEscape(p.key)+"="+strings.Join(flat, ","))
		}
		return out
	}
	return []string{pair(p.key, v)}
}
