package text

// MaxNumber is how many digits a number may have, and how large its exponent may be:
// beyond it exact arithmetic takes seconds.
const MaxNumber = 400

// HugeNumber reports whether a number as JSON writes it is beyond [MaxNumber].
//
//	HugeNumber("1e999") // true
func HugeNumber(n string) bool {
	if len(n) > MaxNumber {
		return true
	}
	for i := range len(n) {
		if n[i] != 'e' && n[i] != 'E' {
			continue
		}
		exp := 0
		for _, d := range []byte(n[i+1:]) {
			if d >= '0' && d <= '9' {
				if exp = exp*10 + int(d-'0'); exp > MaxNumber {
					return true
				}
			}
		}
	}
	return false
}
