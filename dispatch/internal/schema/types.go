package schema

import (
	"encoding"
	"encoding/json"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/invopop/jsonschema"
)

// Types with a schema of their own.
var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	numberType   = reflect.TypeFor[json.Number]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	bigIntType   = reflect.TypeFor[big.Int]()
	urlType      = reflect.TypeFor[url.URL]()

	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonType = reflect.TypeFor[json.Unmarshaler]()
)

// own are the methods by which a type gives the library its schema.
var own = []reflect.Type{
	reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }](),
	reflect.TypeFor[interface{ JSONSchemaAlias() any }](),
	reflect.TypeFor[interface{ JSONSchemaExtend(*jsonschema.Schema) }](),
	reflect.TypeFor[interface{ JSONSchemaProperty(string) any }](),
}

// givesOwn reports whether a type gives its schema itself.
func givesOwn(t reflect.Type) bool {
	for _, i := range own {
		if t.Implements(i) {
			return true
		}
	}
	return false
}

// hasTextForm reports whether a type decodes itself, so that its kind says nothing of its
// JSON form.
func hasTextForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == timeType || t == urlType || p.Implements(textType) || p.Implements(jsonType)
}

// durationPattern is what [time.ParseDuration] reads.
const durationPattern = `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$`

// mapper returns the schema of a type that the library does not know, or says too little
// of; nil leaves it to the library. Each schema is new: tags are written into it.
func mapper(t reflect.Type) *jsonschema.Schema {
	switch {
	case givesOwn(t):
		return nil
	case t == durationType:
		return &jsonschema.Schema{Type: "string", Pattern: durationPattern, Examples: []any{"1m30s"}}
	case t == timeType:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == urlType:
		return &jsonschema.Schema{Type: "string", Format: "uri"}
	case t == numberType:
		return &jsonschema.Schema{Type: "number"}
	case t == rawType:
		return &jsonschema.Schema{}
	case t == bigIntType:
		return &jsonschema.Schema{Type: "integer"}
	}
	switch p := reflect.PointerTo(t); {
	case p.Implements(jsonType):
		return &jsonschema.Schema{}
	case p.Implements(textType):
		return &jsonschema.Schema{Type: "string"}
	}
	return integer(t.Kind())
}

// integer returns the schema of an integer with the bounds of its type; nil for other
// kinds, and for those whose bounds are no help.
func integer(k reflect.Kind) *jsonschema.Schema {
	number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
	s := &jsonschema.Schema{Type: "integer"}
	switch k {
	case reflect.Int8:
		s.Minimum, s.Maximum = number(math.MinInt8), number(math.MaxInt8)
	case reflect.Int16:
		s.Minimum, s.Maximum = number(math.MinInt16), number(math.MaxInt16)
	case reflect.Int32:
		s.Minimum, s.Maximum = number(math.MinInt32), number(math.MaxInt32)
	case reflect.Uint8:
		s.Minimum, s.Maximum = number(0), number(math.MaxUint8)
	case reflect.Uint16:
		s.Minimum, s.Maximum = number(0), number(math.MaxUint16)
	case reflect.Uint32:
		s.Minimum, s.Maximum = number(0), number(math.MaxUint32)
	case reflect.Uint, reflect.Uint64:
		s.Minimum = number(0)
	default:
		return nil
	}
	return s
}
