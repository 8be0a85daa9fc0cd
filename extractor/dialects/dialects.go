package dialects

import "github.com/callwright/callwright/dialect"

func All() []dialect.Row { return dialect.Builtin().Dialects }

func Lookup(name string) (dialect.Row, bool) { return dialect.Lookup(name) }
