package sample

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// openings are neutral: they may stand before an act and before a mention. Those of
// "en" may stand before every language.
var openings = map[string][]string{
	"en":      {"</think>\n\n", "Sure!\n\n", "Okay. ", "Hello!\n\n", "Thanks for the details. ", "Good question. "},
	"de":      {"Hallo! ", "Gerne.\n\n", "Alles klar. ", "Guten Tag,\n\n", "Danke für die Nachricht. "},
	"fr":      {"Bonjour !\n\n", "Bien sûr. ", "D'accord. ", "Merci pour ces précisions. "},
	"es":      {"¡Hola!\n\n", "Claro. ", "De acuerdo. ", "Gracias por la información. "},
	"it":      {"Ciao!\n\n", "Certo. ", "Va bene. ", "Grazie per i dettagli. "},
	"pt":      {"Olá!\n\n", "Claro. ", "Certo. ", "Obrigado pelos detalhes. "},
	"nl":      {"Hallo!\n\n", "Natuurlijk. ", "Oké. "},
	"sv":      {"Hej!\n\n", "Visst. ", "Okej. "},
	"fi":      {"Hei!\n\n", "Toki. ", "Selvä. "},
	"pl":      {"Cześć!\n\n", "Jasne. ", "Dobrze. "},
	"cs":      {"Dobrý den!\n\n", "Jistě. ", "Dobře. "},
	"uk":      {"Вітаю!\n\n", "Звичайно. ", "Добре. "},
	"ru":      {"Здравствуйте!\n\n", "Конечно. ", "Хорошо. ", "Спасибо за уточнение. "},
	"tr":      {"Merhaba!\n\n", "Tabii. ", "Tamam. ", "Bilgi için teşekkürler. "},
	"el":      {"Γεια σας!\n\n", "Βεβαίως. ", "Εντάξει. "},
	"hu":      {"Szia!\n\n", "Persze. ", "Rendben. "},
	"ro":      {"Bună!\n\n", "Sigur. ", "Bine. "},
	"ar":      {"مرحبًا!\n\n", "بالتأكيد. ", "حسنًا. ", "شكرًا على التفاصيل. "},
	"he":      {"שלום!\n\n", "בטח. ", "בסדר. "},
	"fa":      {"سلام!\n\n", "حتماً. ", "باشه. "},
	"ur":      {"السلام علیکم!\n\n", "ضرور۔ ", "ٹھیک ہے۔ "},
	"hi":      {"नमस्ते!\n\n", "ज़रूर। ", "ठीक है। ", "जानकारी के लिए धन्यवाद। "},
	"bn":      {"নমস্কার!\n\n", "অবশ্যই। ", "ঠিক আছে। "},
	"ta":      {"வணக்கம்!\n\n", "நிச்சயமாக. ", "சரி. "},
	"th":      {"สวัสดีครับ\n\n", "ได้เลยครับ ", "ตกลงค่ะ "},
	"vi":      {"Xin chào!\n\n", "Vâng. ", "Được rồi. "},
	"id":      {"Halo!\n\n", "Tentu. ", "Baik. "},
	"tl":      {"Kumusta!\n\n", "Sige. ", "Okay po. "},
	"sw":      {"Habari!\n\n", "Sawa. ", "Bila shaka. "},
	"zh":      {"你好！\n\n", "好的。", "明白了。", "谢谢你的说明。"},
	"zh-Hant": {"您好！\n\n", "好的。", "了解。"},
	"ja":      {"こんにちは。\n\n", "はい。", "承知しました。", "ありがとうございます。"},
	"ko":      {"안녕하세요!\n\n", "네. ", "알겠습니다. ", "감사합니다. "},
}

// vary changes of a text what does not change the labels.
func vary(t *Text, text string, r *rand.Rand) string {
	fenced := strings.Contains(text, "```")
	if !fenced && r.IntN(4) == 0 {
		text = moveLines(text, r)
	}
	if !startsWithStructure(text) && r.IntN(8) == 0 {
		lang := t.Lang
		if r.IntN(8) == 0 {
			lang = "en"
		}
		if list := openings[lang]; len(list) > 0 {
			text = list[r.IntN(len(list))] + text
		}
	}
	switch r.IntN(24) {
	case 0, 1:
		text = strings.ToLower(text)
	case 2:
		text = withoutAccents(text)
	case 3:
		text = withoutAccents(strings.ToLower(text))
	}
	return text
}

func startsWithStructure(text string) bool {
	return strings.HasPrefix(text, "#") || strings.HasPrefix(text, "|") || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "⟦")
}

// moveLines puts a slot that stands alone on its line behind the words before it, or one
// behind a whole sentence on a line of its own.
func moveLines(text string, r *rand.Rand) string {
	slots := slot.FindAllStringIndex(text, -1)
	for i := len(slots) - 1; i >= 0; i-- {
		start, end := slots[i][0], slots[i][1]
		before := strings.TrimRight(text[:start], " \n")
		if before == "" || r.IntN(2) == 0 {
			continue
		}
		gap := text[len(before):start]
		line := before[strings.LastIndexByte(before, '\n')+1:]
		p := placeOf(text, start, end)
		switch {
		case p == alone && strings.Contains(gap, "\n") && !strings.HasPrefix(strings.TrimSpace(line), "#") && !strings.HasPrefix(line, "|") &&
			!strings.HasPrefix(line, "-") && !strings.HasSuffix(line, "-") && !strings.HasSuffix(line, "*") && !strings.HasSuffix(line, "=") &&
			!strings.HasSuffix(line, "⟧"):
			text = before + " " + text[start:]
		case p == inline && gap == " " && endsSentence(before) && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "*"):
			rest := text[end:]
			if strings.TrimSpace(rest) == "" || rest[0] == '\n' {
				text = before + []string{"\n", "\n\n"}[r.IntN(2)] + text[start:]
			}
		}
	}
	return text
}

func endsSentence(s string) bool {
	for _, e := range []string{".", "!", "?", ":", "…", "。", "！", "？", "：", "।", "۔", "؟"} {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}

var plainLetters = strings.NewReplacer(
	"á", "a", "à", "a", "â", "a", "ä", "a", "ã", "a", "å", "a", "ă", "a", "ą", "a", "č", "c", "ć", "c", "ç", "c", "ď", "d", "é", "e", "è", "e",
	"ê", "e", "ë", "e", "ě", "e", "ę", "e", "ğ", "g", "í", "i", "ì", "i", "î", "i", "ï", "i", "ı", "i", "ł", "l", "ñ", "n", "ń", "n", "ň", "n",
	"ó", "o", "ò", "o", "ô", "o", "ö", "o", "õ", "o", "ő", "o", "ř", "r", "š", "s", "ś", "s", "ş", "s", "ș", "s", "ť", "t", "ț", "t", "ú", "u",
	"ù", "u", "û", "u", "ü", "u", "ů", "u", "ű", "u", "ý", "y", "ž", "z", "ź", "z", "ż", "z",
)

// withoutAccents writes a text as hurried people do.
func withoutAccents(s string) string {
	s = plainLetters.Replace(s)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < 0x0700 {
			return -1
		}
		return r
	}, s)
}
