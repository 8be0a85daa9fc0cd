package scan

// maxKey is how long a key may be by which an object is known, in bytes.
const maxKey = 80

// keyAt reports whether an object with a key begins at off: the earliest bytes that
// tell JSON from a brace in prose. The key may be written badly: {tool": …}.
func (l *look) keyAt(off int) bool {
	c := l.c
	at := c.SpaceEnd(off + 1)
	b, ok := c.At(at)
	if ok && b == '{' && at == off+1 { // {{"name": …}}
		at = c.SpaceEnd(at + 1)
		b, ok = c.At(at)
	}
	if !ok {
		return false
	}
	for b == '\\' && (c.HasPrefixAt(at, `\n`) || c.HasPrefixAt(at, `\r`) || c.HasPrefixAt(at, `\t`)) {
		at = c.SpaceEnd(at + 2) // {\n "name": …}, with the escape of the line's end
		b, _ = c.At(at)
	}
	switch {
	case b == '\\':
		return c.HasPrefixAt(at, `\"`)
	case b == '"' || b == '\'' || b == '`' || b == 0xE2:
		return l.quotedKeyAt(at, b)
	case isIdentStart(b):
		return l.plainKeyAt(at)
	}
	return false
}

// quotedKeyAt reports whether a key in quotation marks stands at off: 0xE2 begins the
// typographic ones.
func (l *look) quotedKeyAt(off int, quote byte) bool {
	c := l.c
	end := off + 1
	for ; ; end++ {
		b, ok := c.At(end)
		switch {
		case !ok:
			return end > off+1
		case end-off > maxKey || b == '\n':
			return false
		case quote == 0xE2 && b == 0xE2 && end > off+2:
			return true
		}
		if b == quote && quote != 0xE2 {
			break
		}
		next, _ := c.At(end + 1)
		if (b == '"' || b == '\'' || b == '`') && next == ':' {
			return true // {'tool": …}
		}
		if b != ':' || !isCallKey(string(c.Slice(off+1, end))) {
			continue
		}
		if value, _ := c.At(c.SpaceEnd(end + 1)); value == '"' {
			return true // {"tool:"…}
		}
	}
	if colon := c.SpaceEnd(end + 1); colon > end+1 && quote == '"' && isCallKey(string(c.Slice(off+1, end))) {
		if b, _ := c.At(colon); b == '"' {
			return true // {"tool" "…"}
		}
	}
	return l.colonAt(end + 1)
}

// plainKeyAt reports whether a key without quotation marks, or without its first, stands
// at off.
func (l *look) plainKeyAt(off int) bool {
	end := off
	for end-off <= maxKey {
		b, ok := l.c.At(end)
		if !ok {
			return false
		}
		if !isIdent(b) && b != '-' {
			break
		}
		end++
	}
	if b, _ := l.c.At(end); b == '"' {
		next, _ := l.c.At(end + 1)
		return next == ':' // {tool": …}
	}
	return l.colonAt(end)
}

// colonAt reports whether what stands between a key and its value follows, or may.
func (l *look) colonAt(off int) bool {
	off = l.c.SpaceEnd(off)
	b, ok := l.c.At(off)
	return !ok || b == ':' || b == 0xEF && l.c.HasPrefixAt(off, "：") || b == '=' && l.c.HasPrefixAt(off, "=>")
}

// isCallKey reports whether a key that is written badly is one with which calls begin.
func isCallKey(key string) bool {
	switch key {
	case "name", "tool", "tool_name", "function", "action", "arguments", "parameters", "params":
		return true
	}
	return false
}
