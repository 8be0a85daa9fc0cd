package sample

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Groups says which situations are one idea of wording, and which ideas overlap.
type Groups struct {
	group    map[string]string
	excludes map[string]map[string]bool
}

// LoadGroups reads groups.txt of the folder of labelled texts.
func LoadGroups(dir string) (*Groups, error) {
	data, err := os.ReadFile(filepath.Join(dir, "groups.txt"))
	if err != nil {
		return nil, err
	}
	g := &Groups{map[string]string{}, map[string]map[string]bool{}}
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, rest, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("groups.txt:%d: a colon is missing", n+1)
		}
		if name, ok := strings.CutPrefix(head, "excludes "); ok {
			for _, other := range strings.Fields(rest) {
				g.exclude(name, other)
				g.exclude(other, name)
			}
			continue
		}
		for _, key := range strings.Fields(rest) {
			if g.group[key] != "" {
				return nil, fmt.Errorf("groups.txt:%d: %s stands in two groups", n+1, key)
			}
			g.group[key] = head
		}
	}
	return g, nil
}

func (g *Groups) exclude(a, b string) {
	if g.excludes[a] == nil {
		g.excludes[a] = map[string]bool{}
	}
	g.excludes[a][b] = true
}

// Of returns the group of a situation.
func (g *Groups) Of(situation string) string {
	if s := g.group[situation]; s != "" {
		return s
	}
	return situation
}

// Excluded reports whether texts of a group must not be fitted on while the groups for
// which held is true are held out.
func (g *Groups) Excluded(group string, held func(group string) bool) bool {
	if held(group) {
		return true
	}
	for other := range g.excludes[group] {
		if held(other) {
			return true
		}
	}
	return false
}

// salt was chosen among the first few thousand so that the part held out has a fifth of
// the acts and of the mentions, in English and in the other languages.
const salt = "2604"

// HeldOut reports whether a group is never fitted on while the model is being checked:
// one in five. It depends on the name alone, so that new texts leave the others where
// they are.
func HeldOut(group string) bool { return hash(salt+group)%5 == 0 }

// Part returns to which of n parts a group belongs, for trying out on what is not held
// out.
func Part(group string, n int) int { return int(hash("part"+group) % uint32(n)) }

func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
