package interceptor

// Bounds of what counts as thinking that repeats itself, in bytes.
const (
	repeatWindow = 6 << 10 // how much of the end is looked at
	repeatEvery  = 1 << 10 // after how much more of it
	leastRepeat  = 900     // how long the repetitions are together
	repeatTimes  = 3
)

// bytesPerToken is the usual length of a token, for estimates.
const bytesPerToken = 4

// thinking watches a model's reasoning.
type thinking struct {
	tail   []byte
	unseen int // bytes since the end was looked at
	total  int
}

// add takes a piece of reasoning, and reports whether the reasoning has passed a budget of
// tokens (0 means none) or repeats itself.
func (t *thinking) add(piece string, budget int) bool {
	t.total += len(piece)
	t.unseen += len(piece)
	t.tail = append(t.tail, piece[max(0, len(piece)-repeatWindow):]...)
	if len(t.tail) > 2*repeatWindow {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-repeatWindow:]...)
	}
	if budget > 0 && t.total > budget*bytesPerToken {
		return true
	}
	if t.unseen < repeatEvery {
		return false
	}
	t.unseen = 0
	return repeats(t.tail[max(0, len(t.tail)-repeatWindow):])
}

// repeats reports whether a text ends with a block that stands there repeatTimes or more,
// leastRepeat bytes in all. It takes linear time: the borders of the reversed text's
// prefixes tell the periods of the text's ends.
func repeats(text []byte) bool {
	n := len(text)
	at := func(i int) byte { return text[n-1-i] }
	border := make([]int32, n+1)
	border[0] = -1
	for i, k := 0, -1; i < n; {
		for k >= 0 && at(i) != at(k) {
			k = int(border[k])
		}
		i, k = i+1, k+1
		border[i] = int32(k) //nolint:gosec // at most repeatWindow
		if period := i - k; i >= leastRepeat && i >= repeatTimes*period {
			return true
		}
	}
	return false
}
