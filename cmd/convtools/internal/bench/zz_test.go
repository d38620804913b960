package main
import ("context";"os";"testing";"fmt")
func TestZZ(t *testing.T){ b,err:=build(context.Background(),t.TempDir()); if err!=nil{t.Fatal(err)}; b.plan=shortPlan(); if os.Getenv("FULL")!=""{b.plan=fullPlan()}; var tb table
 if err:=b.mcp(context.Background(),&tb,func(s string){fmt.Println(s)}); err!=nil{t.Error(err)}; tb.write(os.Stdout)}
