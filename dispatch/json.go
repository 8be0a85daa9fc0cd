package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/callwright/callwright/internal/text"
)

// maxDepth is how deep arguments and results may nest.
const maxDepth = 512

var errDepth = errors.New("nested more than " + strconv.Itoa(maxDepth) + " deep")

// form is how JSON is written.
type form bool

const (
	asWritten form = false // members in any order, numbers with their digits
	canonical form = true  // members sorted by their bytes, numbers by their exact value
)

// appendJSON appends decoded JSON, in which numbers may also be Go's.
func appendJSON(dst []byte, v any, f form, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errDepth
	}
	var err error
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendString(dst, v), nil
	case json.Number:
		if f == canonical {
			return appendNumber(dst, string(v)), nil
		}
		return append(dst, v...), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, errors.New("a number is not finite")
		}
		n := strconv.FormatFloat(v, 'g', -1, 64)
		if f == canonical {
			return appendNumber(dst, n), nil
		}
		return append(dst, n...), nil
	case int:
		return appendJSON(dst, json.Number(strconv.Itoa(v)), f, depth)
	case int64:
		return appendJSON(dst, json.Number(strconv.FormatInt(v, 10)), f, depth)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendJSON(dst, e, f, depth+1); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case map[string]any:
		dst = append(dst, '{')
		first := true
		member := func(k string) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(appendString(dst, k), ':')
			dst, err = appendJSON(dst, v[k], f, depth+1)
		}
		if f == canonical {
			for _, k := range text.SortedKeys(v) {
				if member(k); err != nil {
					return dst, err
				}
			}
			return append(dst, '}'), nil
		}
		for k := range v {
			if member(k); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	}
	plain, err := decoded(v)
	if err != nil {
		return dst, err
	}
	return appendJSON(dst, plain, f, depth)
}

// appendString appends a JSON string. What is no UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	before := len(dst)
	dst, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		dst, _ = jsontext.AppendQuote(dst[:before], strings.ToValidUTF8(s, "\uFFFD"))
	}
	return dst
}

// appendNumber appends a number by its exact value, as its digits and a power of ten: 100,
// 1e2 and 100.0 are all 1e2. (RFC 8785 writes numbers as float64, in which
// 9007199254740993 and 9007199254740992 are the same.)
func appendNumber(dst []byte, n string) []byte {
	mantissa, negative := strings.CutPrefix(n, "-")
	exponent := int64(0)
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		e, err := strconv.ParseInt(mantissa[i+1:], 10, 64)
		if err != nil || e > math.MaxInt32 || e < math.MinInt32 {
			return append(dst, n...)
		}
		mantissa, exponent = mantissa[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return append(dst, '0') // -0 is the same
	}
	if negative {
		dst = append(dst, '-')
	}
	short := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(short) - len(fraction))
	dst = append(append(dst, short...), 'e')
	return strconv.AppendInt(dst, exponent, 10)
}

// keyOf returns the idempotency key of a call.
func keyOf(tool string, parameters map[string]any) string {
	buffer := make([]byte, 0, 512)
	buffer = append(append(buffer, tool...), 0)
	// What cannot be encoded does not reach a handler; its key need only be no other's.
	buffer, err := appendJSON(buffer, parameters, canonical, 0)
	if err != nil {
		buffer = append(buffer, err.Error()...)
	}
	sum := sha256.Sum256(buffer)
	return hex.EncodeToString(sum[:])
}

// decoded returns a value as decoded JSON, with the digits of its numbers.
func decoded(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, json.Number, []any, map[string]any:
		return v, nil
	case json.RawMessage:
		return parseJSON(string(v))
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return parseJSON(string(data))
}

// parseJSON decodes one JSON value with the digits of its numbers.
func parseJSON(s string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text behind the JSON")
	}
	return v, nil
}
