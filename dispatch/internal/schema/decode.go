package schema

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// plain decodes as encoding/json does, but matches members in their exact case: a policy
// and a handler must see the same arguments.
var plain = jsonv2.JoinOptions(
	jsonv1.DefaultOptionsV1(), jsonv2.MatchCaseInsensitiveNames(false), jsonv1.ReportErrorsWithLegacySemantics(false),
)

// special also decodes the types that have a JSON form of their own here: durations and
// URLs are strings, numbers without a type keep their digits.
var special = jsonv2.JoinOptions(plain, jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, n *json.Number) error {
		v, err := d.ReadValue()
		*n = json.Number(v)
		return err
	}),
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, x *time.Duration) error {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		*x, err = time.ParseDuration(t.String())
		return err
	}),
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, x *url.URL) error {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		u, err := url.Parse(t.String())
		if err != nil {
			return err
		}
		*x = *u
		return nil
	}),
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, x *any) error {
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		numbers := json.NewDecoder(bytes.NewReader(v))
		numbers.UseNumber()
		return numbers.Decode(x)
	}),
)))

// Decoder decodes the arguments of a type that has a schema.
type Decoder struct {
	options jsonv2.Options
	assign  assigner // nil if the type is not plain
}

// NewDecoder returns the decoder of a type.
func NewDecoder(t reflect.Type) Decoder {
	d := Decoder{plain, assignerOf(t, nil)}
	if hasSpecial(t, map[reflect.Type]bool{}) {
		d.options = special
	}
	return d
}

// Assign puts decoded JSON into what into points to, if its type is plain and the JSON
// fits it; else it reports false, and Decode is to be used.
func (d Decoder) Assign(v map[string]any, into any) bool {
	if d.assign == nil {
		return false
	}
	e := reflect.ValueOf(into).Elem()
	if d.assign(e, v) {
		return true
	}
	e.SetZero()
	return false
}

// Decode decodes JSON that fits the schema of the type that into points to. Numbers of
// members of type any are [json.Number].
func (d Decoder) Decode(data []byte, into any) error { return jsonv2.Unmarshal(data, into, d.options) }

// hasSpecial reports whether a type has one of special in it.
func hasSpecial(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if t == durationType || t == urlType || t == numberType {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return hasSpecial(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if hasSpecial(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
