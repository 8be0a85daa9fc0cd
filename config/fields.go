package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// field is one option, or a group of them.
type field struct {
	path  string // such as "parser.timeout_ms"
	value reflect.Value
	tag   reflect.StructTag
}

// fields lists the options of a group in their order. Groups come before what is in
// them.
func fields(v reflect.Value, prefix string) (list []field) {
	for i := range v.NumField() {
		t := v.Type().Field(i)
		f := field{prefix + t.Tag.Get("yaml"), v.Field(i), t.Tag}
		list = append(list, f)
		if f.value.Kind() == reflect.Struct {
			list = append(list, fields(f.value, f.path+".")...)
		}
	}
	return list
}

func (c *Config) fields() []field { return fields(reflect.ValueOf(c).Elem(), "") }

// decode takes the options of a document, and notes on which lines they stand.
func (c *Config) decode(source string, root *yaml.Node, lines map[string]int) error {
	known := map[string]field{}
	for _, f := range c.fields() {
		known[f.path] = f
	}
	var walk func(n *yaml.Node, prefix string) error
	walk = func(n *yaml.Node, prefix string) error {
		if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
			return nil // an empty group
		}
		if n.Kind != yaml.MappingNode {
			return &Error{source, n.Line, strings.TrimSuffix(prefix, "."), fmt.Errorf("%w: it must be a group of options", ErrValue)}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			path := prefix + key.Value
			f, ok := known[path]
			if !ok {
				return &Error{source, key.Line, path, fmt.Errorf("%w%s", ErrUnknown, nearest(path, known))}
			}
			if _, twice := lines[path]; twice {
				return &Error{source, key.Line, path, fmt.Errorf("%w: it is set twice in the file", ErrValue)}
			}
			lines[path] = key.Line
			if f.value.Kind() == reflect.Struct {
				if err := walk(value, path+"."); err != nil {
					return err
				}
				continue
			}
			if f.value.Kind() == reflect.Slice { // in place of the default, not behind it
				f.value.Set(reflect.Zero(f.value.Type()))
			}
			if err := value.Decode(f.value.Addr().Interface()); err != nil {
				return &Error{source, value.Line, path, fmt.Errorf("%w: it must be %s", ErrValue, kindName(f.value.Type()))}
			}
		}
		return nil
	}
	return walk(root, "")
}

// nearest suggests an option with the same name in another group or another spelling.
func nearest(path string, known map[string]field) string {
	last := path[strings.LastIndexByte(path, '.')+1:]
	fold := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	best := ""
	for _, p := range slices.Sorted(maps.Keys(known)) {
		if fold(p[strings.LastIndexByte(p, '.')+1:]) != fold(last) {
			continue
		}
		if group := path[:len(path)-len(last)]; best == "" || strings.HasPrefix(p, group) && !strings.HasPrefix(best, group) {
			best = p
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "a list of groups"
		}
		return "a list of words"
	}
	return "a word"
}

// variable is the environment variable of an option: CALLWRIGHT_PARSER_TIMEOUT_MS.
func variable(path string) string {
	return "CALLWRIGHT_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// environment takes the options that the environment sets. Lists are separated by
// commas.
func (c *Config) environment(getenv func(string) (string, bool)) error {
	for _, f := range c.fields() {
		if f.value.Kind() == reflect.Struct {
			continue
		}
		name := variable(f.path)
		text, ok := getenv(name)
		if !ok {
			continue
		}
		if err := set(f.value, text); err != nil {
			return &Error{name, 0, f.path, err}
		}
	}
	return c.check(func(option string) (string, int) {
		if _, ok := getenv(variable(option)); ok {
			return variable(option), 0
		}
		return "", 0
	})
}

func set(v reflect.Value, text string) error {
	wrong := fmt.Errorf("%w: %q must be %s", ErrValue, text, kindName(v.Type()))
	switch v.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return wrong
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return wrong
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return wrong
		}
		v.SetFloat(f)
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.String {
			return fmt.Errorf("%w: it can be set in the file only", ErrValue)
		}
		var list []string
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
		v.Set(reflect.ValueOf(list))
	}
	return nil
}

// check checks what each option may be. where says where an option was set.
func (c *Config) check(where func(option string) (source string, line int)) error {
	for _, f := range c.fields() {
		if err := f.check(); err != nil {
			source, line := where(f.path)
			return &Error{source, line, f.path, err}
		}
	}
	for _, rule := range c.rules() {
		if rule.err != nil {
			source, line := where(rule.option)
			return &Error{source, line, rule.option, rule.err}
		}
	}
	return nil
}

func (f *field) check() error {
	if enum := f.tag.Get("enum"); enum != "" {
		allowed := strings.Fields(enum)
		words := []string{}
		if f.value.Kind() == reflect.String {
			words = append(words, f.value.String())
		} else if list, ok := f.value.Interface().([]string); ok {
			words = list
		}
		for _, w := range words {
			if !slices.Contains(allowed, w) {
				return fmt.Errorf("%w: %q is none of %s", ErrRange, w, strings.Join(allowed, ", "))
			}
		}
	}
	switch f.value.Kind() {
	case reflect.Int:
		return f.checkInt(f.value.Int())
	case reflect.Float64:
		return f.checkFloat(f.value.Float())
	}
	return nil
}

// Bounds of whole numbers that have no bounds of their own: times of 24 days in
// milliseconds, counts, and sizes of 1 TB in bytes.
const (
	mostNumber = 1<<31 - 1
	mostBytes  = 1 << 40
)

func (f *field) checkInt(n int64) error {
	least, most := int64(-mostNumber), int64(mostNumber)
	if strings.HasSuffix(f.path, "_bytes") {
		most = mostBytes
	}
	for tag, bound := range map[string]*int64{"min": &least, "max": &most} {
		if text := f.tag.Get(tag); text != "" {
			var err error
			if *bound, err = strconv.ParseInt(text, 10, 64); err != nil {
				return err
			}
		}
	}
	switch {
	case n < least:
		return fmt.Errorf("%w: it is %d and must be at least %d", ErrRange, n, least)
	case n > most:
		return fmt.Errorf("%w: it is %d and must be at most %d", ErrRange, n, most)
	}
	return nil
}

func (f *field) checkFloat(n float64) error {
	for _, bound := range []struct {
		tag, word string
		wrong     func(b float64) bool
	}{
		{"min", "least", func(b float64) bool { return !(n >= b) }}, {"max", "most", func(b float64) bool { return !(n <= b) }},
	} {
		text := f.tag.Get(bound.tag)
		if text == "" {
			continue
		}
		b, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		if bound.wrong(b) {
			return fmt.Errorf("%w: it is %g and must be at %s %s", ErrRange, n, bound.word, text)
		}
	}
	return nil
}

// YAML writes the options with their descriptions, as a file that can be read again.
func (c *Config) YAML() string {
	var b strings.Builder
	for _, f := range c.fields() {
		depth := strings.Count(f.path, ".")
		indent := strings.Repeat("  ", depth)
		name := f.path[strings.LastIndexByte(f.path, '.')+1:]
		if depth == 0 && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(indent + "# " + descriptions[f.path])
		if enum := f.tag.Get("enum"); enum != "" {
			one := " One of: "
			if f.value.Kind() == reflect.Slice {
				one = " Any of: "
			}
			b.WriteString(one + strings.Join(strings.Fields(enum), ", ") + ".")
		}
		b.WriteByte('\n')
		if f.value.Kind() == reflect.Struct {
			b.WriteString(indent + name + ":\n")
			continue
		}
		b.WriteString(indent + name + ": " + scalar(f.value) + "\n")
	}
	return b.String()
}

// scalar writes a value as YAML takes it, in one line.
func scalar(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = scalar(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Struct:
		var parts []string
		for _, f := range fields(v, "") {
			parts = append(parts, f.path+": "+scalar(f.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v.Interface())
}
