package intent
import ("testing";"fmt";"time")
func TestLex(t *testing.T){ s:=time.Now(); l,err:=newLexicon(lexiconFiles); if err!=nil{t.Fatal(err)}; n:=0; for _,k:=range l.keys{ if k!=0{n++}}; fmt.Println(len(l.languages),len(l.entries),n,time.Since(s)) 
 f:=&Features{}; f.Read(&Context{Before:"Never send ",After:" to prod. It is bad."}); for _,m:=range f.matches{ fmt.Println(string(f.r.runes[m.from:m.to]), m.cues, l.languages[m.lang])}
 for i:=range f.r.ns{ x:=f.r.sentences[i]; fmt.Printf("%q %d\n", string(f.r.runes[x.from:x.to]), x.place)}}
func BenchmarkRead(b *testing.B){ f:=&Features{}; c:=Context{Before:"I checked the weather for you yesterday and it was fine. Then I looked at the calendar: there were no entries at all, so I think we should go ahead. You asked for something else as well, namely a list of the shops nearby. That is not a problem for me, of course.\n\nLet me see what I can do here, and I will tell you what the result is. Never send this to prod without asking: ",After:" to prod. It is a bad idea, because no one has a backup of it, and nobody would find out in time."}; b.ReportAllocs(); for b.Loop(){ f.Read(&c)}}
