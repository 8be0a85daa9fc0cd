package cue

import "strings"

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// announcements are the words with which a speaker announces an act of its own. Behind the
// last of "I'm" and "I am" the verb is a participle.
var announcements = [][]string{
	{"i'm", "going", "to"},
	{"i", "am", "going", "to"},
	{"i'm", "about", "to"},
	{"i", "am", "about", "to"},
	{"i'll"},
	{"i", "will"},
	{"i", "shall"},
	{"we'll"},
	{"we", "will"},
	{"let", "me"},
	{"let's"},
	{"let", "us"},
	{"i'm"},
	{"i", "am"},
}

var (
	// openers may stand before an act, and say nothing of it.
	openers = setOf(`okay ok sure alright great certainly absolutely understood right yes now first firstly second secondly third next then
		finally lastly so and also afterwards`)
	// fillers may stand between an announcement and its verb.
	fillers = setOf("now first then next just also quickly simply finally go ahead and proceed to start begin by")
	// doubts are words with which a sentence denies an act, makes it depend on something,
	// reports it, asks for it, leaves it open, or leaves its values open.
	doubts = setOf(`not never no nor neither none nothing without cannot refuse avoid instead rather unable stop cancel skip except
		if unless once when whenever until till provided assuming supposing suppose whether depending case
		would could should might may maybe perhaps possibly can i'd you'd we'd he'd they'd
		said says say asked asks ask wrote told tells according example examples e g instance sample samples hypothetical hypothetically
		imagine pretend quote how why tutorial demo pseudo
		was were had did already previously earlier yesterday ago before later soon eventually someday
		or either versus vs alternatively otherwise
		roughly approximately approx nearly almost minus negative half double twice thrice triple quarter dozen dozens couple several few
		multiple both each every respectively`)
	// descriptions are words with which a sentence that begins like a command tells of it,
	// or tells somebody else to follow it.
	descriptions = setOf(`i is are has have does do takes requires means needs involves looks seems works helps you your yours yourself please
		i'll i'm we'll let let's my our them they he she user users`)
	// withdrawals are words with which a later sentence takes an act back, or says that it
	// was done before.
	withdrawals = setOf("wait actually sorry unfortunately scratch hold wrong mistake done finished completed has have been i've")
)
