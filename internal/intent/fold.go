package intent

import (
	"unicode"
	"unicode/utf8"
)

// fold returns a rune as it is compared: small, with the letters of one script that
// writers exchange made one, full-width and native punctuation made ASCII. It returns 0
// for what is left out: marks of emphasis, vowel signs that few write, invisible marks.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		return asciiFold[r]
	}
	return foldWide(r)
}

var asciiFold = func() (t [utf8.RuneSelf]rune) {
	for i := range t {
		r := rune(i)
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case '0' <= r && r <= '9':
			r = '0'
		case r == '\t':
			r = ' '
		case r == '\n':
		case r < ' ', r == '*', r == '`', r == 0x7F:
			r = 0
		}
		t[i] = r
	}
	return t
}()

// foldWide folds what is not ASCII.
//
//nolint:gocyclo // a case for each range of runes
func foldWide(r rune) rune {
	switch {
	case r < 0x0300: // Latin
		switch r {
		case 0xA0:
			return ' '
		case 0xAB, 0xBB:
			return '"'
		case 0xAD:
			return 0
		case 0xBF, 0xA1:
			return 0
		case 'İ':
			return 'i'
		case 'ş':
			return 'ș'
		case 'ţ':
			return 'ț'
		case 'Ş':
			return 'ș'
		case 'Ţ':
			return 'ț'
		case 0x02BC:
			return '\''
		}
		return unicode.ToLower(r)
	case r < 0x0370: // combining marks
		return r
	case r < 0x0590:
		switch r {
		case 'ς':
			return 'σ'
		case 'ё', 'Ё':
			return 'е'
		case 0x37E:
			return '?'
		case 0x387:
			return ';'
		}
		return unicode.ToLower(r)
	case r < 0x0600: // Hebrew points
		if r <= 0x05C7 && r != 0x05BE {
			return 0
		}
		return r
	case r < 0x0700:
		return foldArabic(r)
	case r < 0x2000:
		if r == 0x0964 || r == 0x0965 {
			return '.'
		}
		if r == 0x093C { // Devanagari nukta
			return 0
		}
		return unicode.ToLower(r)
	case r < 0x2100:
		return foldPunctuation(r)
	case r >= 0x3000 && r < 0x3040:
		switch r {
		case 0x3000:
			return ' '
		case '、':
			return ','
		case '。':
			return '.'
		case '「', '」', '『', '』', '《', '》', '〈', '〉', '【', '】':
			return '"'
		case '〜':
			return '~'
		}
		return r
	case r >= 0xFE00 && r <= 0xFE0F, r == 0xFEFF:
		return 0
	case r >= 0xFF01 && r <= 0xFF5E:
		if f := asciiFold[r-0xFEE0]; f != 0 {
			return f
		}
		return r - 0xFEE0
	case r == 0xFF61:
		return '.'
	case r == 0xFF64:
		return ','
	case r < 0xA000:
		return r
	}
	return unicode.ToLower(r)
}

func foldArabic(r rune) rune {
	switch {
	case r >= 0x064B && r <= 0x065F, r == 0x0670, r == 0x0640:
		return 0
	case r >= 0x0660 && r <= 0x0669, r >= 0x06F0 && r <= 0x06F9:
		return '0'
	}
	switch r {
	case 'أ', 'إ', 'آ', 'ٱ':
		return 'ا'
	case 'ى', 'ی':
		return 'ي'
	case 'ک':
		return 'ك'
	case 'ة', 'ہ', 'ھ':
		return 'ه'
	case '،':
		return ','
	case '؛':
		return ';'
	case '؟':
		return '?'
	case '۔':
		return '.'
	}
	return r
}

func foldPunctuation(r rune) rune {
	switch r {
	case 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069:
		return 0
	case 0x2018, 0x2019, 0x201B, 0x2032:
		return '\''
	case 0x201A, 0x201C, 0x201D, 0x201E, 0x201F, 0x2039, 0x203A:
		return '"'
	case 0x2010, 0x2011:
		return '-'
	case 0x2012, 0x2013, 0x2014, 0x2015:
		return 0x2013
	case 0x2022, 0x2023, 0x2043:
		return 0x2022
	case 0x2028, 0x2029:
		return '\n'
	}
	if r <= 0x200A || r == 0x202F || r == 0x205F {
		return ' '
	}
	return r
}

// isWordRune reports whether a folded rune belongs to a word.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || 'A' <= r && r <= 'Z'
	}
	switch {
	case r < 0x2000:
		return r >= 0xC0 && r != 0xD7 && r != 0xF7 || r == 0xAA || r == 0xB5 || r == 0xBA
	case r < 0x2C00, r >= 0x2E00 && r < 0x3005, r >= 0x3008 && r < 0x3020, r >= 0xFE00 && r < 0xFE70, r >= 0xFF00 && r < 0xFF66:
		return false
	}
	return r != 0xFFFC && r != 0xFFFD && r < 0x1F000
}

// isDense reports whether a rune is of a script that writes without blanks between
// words.
func isDense(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r < 0x0F00, r >= 0x1000 && r < 0x10A0, r >= 0x1780 && r < 0x1800:
		return true
	}
	return r >= 0x3040 && r < 0xA000 && (r < 0x3130 || r >= 0x3190) || r >= 0xF900 && r < 0xFB00 || r >= 0x20000
}
