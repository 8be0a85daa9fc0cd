package registry

// TextParameter returns the parameter that a text alone stands for, where a call gives
// nothing but one text: the tool's only parameter, or else its only required one, or its
// only one that is a string and no enum. certain says that there is no other parameter.
// The name is empty if there is none.
func (t *Tool) TextParameter() (name string, certain bool) {
	names := t.Order()
	if len(names) == 1 {
		return names[0], true
	}
	properties, _ := t.Parameters["properties"].(map[string]any)
	if required, _ := t.Parameters["required"].([]any); len(required) == 1 {
		name, _ := required[0].(string)
		return name, false
	}
	for _, n := range names {
		p, _ := properties[n].(map[string]any)
		if p["type"] != "string" || p["enum"] != nil {
			continue
		}
		if name != "" {
			return "", false
		}
		name = n
	}
	return name, false
}
