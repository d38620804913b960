package chatgpt_test
import ("testing";"fmt";"path/filepath";"strings";"time";"github.com/convtools/convtools/runtime/store";"github.com/convtools/convtools/runtime/store/internal/storetest")
func TestBig(t *testing.T) {
	path := filepath.Join("/var/tmp/archive", "big.db")
	o := write(t, path, canonical, "BEGIN")
	for c := range 10000 {
		o.exec(conversation(fmt.Sprint("c",c), "'t'"))
		for i := range 20 { o.exec(message(fmt.Sprintf("%d-%d", c,i), fmt.Sprint("c",c), "user", "'[\""+strings.Repeat("word ", 140)+"\"]'", fmt.Sprintf("'17%08d.5'", c*20+i), i)) }
	}
	o.exec("COMMIT")
	s := open(t, env(path))
	begin := time.Now()
	found, _ := storetest.List(t, s, store.Live)
	fmt.Println(len(found), time.Since(begin)); begin = time.Now()
	n := 0
	buffer := store.NewBuffer(store.NewMemory(1<<24))
	for _, c := range found {
		e, err := c.Events(t.Context(), buffer); if err != nil { t.Fatal(err) }
		for e.Next(t.Context()) { text, _ := e.Event().AppendText(nil); n+=len(text) }
		e.Close()
	}
	fmt.Println(n, time.Since(begin)); begin = time.Now()
	v, _ := s.(store.Versioned).Version(t.Context())
	fmt.Println(len(v), time.Since(begin)); begin = time.Now()
}
