package secret_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/secret"
)

// Values are put together here, so that no scanner of a code host takes this file for a leak. They are random, and
// open nothing.
const (
	letters = "q8Zt3LmX0vBn5RkW2yHs7JdC4pGf9TaE6uYe1iQoN3bVxM7zPc5lKw2rDhU8sAgF0jSt" // letters and digits
	hex     = "4be19f0a7c3d58e26f91b0c7d4a3e85f26c19d07ab43f8e5106d72c9ba4f38e0d1957c2b"
	upper   = "K7QX2MB5ZT9RW4HD8NC3VJ6PYLF1GSAUE0OI7QX2MB5ZT9RW4HD8NC3VJ6PYLF1GSAUE"
	lower   = "k7qx2mb5zt9rw4hd8nc3vj6pylf1gsaue0oi7qx2mb5zt9rw4hd8nc3vj6pylf1gsaue"
)

// values has an invented secret for each form, below the name of its kind.
func values() [][2]string {
	uuid := hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:32]
	body := letters + "\n" + letters[3:] + letters[:3] + "\n" + letters[:21] + "="
	return [][2]string{
		{"private key", "-----BEGIN RSA " + "PRIVATE KEY-----\n" + body + "\n-----END RSA " + "PRIVATE KEY-----"},
		{"private key", "-----BEGIN " + `PRIVATE KEY-----\n` + strings.ReplaceAll(body, "\n", `\n`) + `\n-----END ` + "PRIVATE KEY-----"},
		{"private key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + body + "\n=ab3d\n-----END PGP " + "PRIVATE KEY BLOCK-----"},
		{"private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + body}, // the end is missing
		{"private key", "Private-Lines:" + " 3\n" + body},
		{"age key", "AGE-SECRET-" + "KEY-1" + upper[:58]},
		{"JWT", "eyJ" + letters[:20] + ".eyJ" + letters[20:60] + "." + letters[5:48]},
		{"AWS access key", "AK" + "IA" + upper[:16]},
		{"AWS Bedrock key", "AB" + "SK" + letters + letters[:50] + "="},
		{"Google API key", "AI" + "za" + letters[:35]},
		{"Google OAuth secret", "GOC" + "SPX-" + letters[:28]},
		{"Google OAuth token", "ya" + "29." + letters},
		{"Azure key", "Account" + "Key=" + letters + letters[:18] + "=="},
		{"Azure secret", letters[:3] + "8" + "Q~" + letters[:34]},
		{"Azure secret", letters[:3] + "8" + "Q~" + "~" + letters[:33]},
		{"Alibaba key", "LT" + "AI" + letters[:20]},
		{"Tencent key", "AK" + "ID" + letters[:32]},
		{"DigitalOcean token", "dop" + "_v1_" + hex[:64]},
		{"Heroku key", "HRKU" + "-AA" + letters[:58]},
		{"Fly token", "fm" + "2_" + letters},
		{"Netlify token", "nf" + "p_" + letters[:36]},
		{"Cloudflare key", "v1" + ".0-" + hex[:24] + "-" + hex + hex + hex[:2]},
		{"Supabase token", "sb" + "p_" + hex[:40]},
		{"Supabase key", "sb_" + "secret_" + letters[:31]},
		{"PlanetScale token", "pscale" + "_tkn_" + letters[:43]},
		{"Databricks token", "da" + "pi" + hex[:32] + "-2"},
		{"Pulumi token", "pu" + "l-" + hex[:40]},
		{"Vault token", "hv" + "s." + letters[:24]},
		{"Terraform token", letters[:14] + ".atlas" + "v1." + letters[:65]},
		{"OpenShift token", "sha" + "256~" + letters[:43]},
		{"Tailscale key", "ts" + "key-auth-" + letters[:17] + "-" + letters[17:40]},
		{"Scalingo token", "tk-" + "us-" + letters[:48]},
		{"GitHub token", "gh" + "p_" + letters[:36]},
		{"GitHub token", "gh" + "s_" + letters[:36]},
		{"GitHub token", "github" + "_pat_" + letters[:22] + "_" + letters[:59]},
		{"GitLab token", "gl" + "pat-" + letters[:20]},
		{"Atlassian token", "ATA" + "TT3" + letters + letters + "=" + upper[:8]},
		{"Bitbucket password", "AT" + "BB" + letters[:32]},
		{"Sourcegraph token", "sg" + "p_" + hex[:16] + "_" + hex[:40]},
		{"Buildkite token", "bk" + "ua_" + hex[:40]},
		{"CircleCI token", "CCI" + "PAT_" + letters[:22] + "_" + hex[:40]},
		{"Doppler token", "dp." + "st.prd." + letters[:43]},
		{"Infracost key", "ic" + "o-" + letters[:32]},
		{"Grafana token", "gl" + "sa_" + letters[:32] + "_" + hex[:8]},
		{"Grafana token", "gl" + "c_eyJ" + letters[:60]},
		{"New Relic key", "NR" + "AK-" + upper[:27]},
		{"Sentry token", "snt" + "ryu_" + hex[:64]},
		{"Dynatrace token", "dt0" + "c01." + upper[:24] + "." + upper[:64]},
		{"PostHog key", "ph" + "x_" + letters[:43]},
		{"Prefect key", "pn" + "u_" + letters[:36]},
		{"Postman key", "PM" + "AK-" + hex[:24] + "-" + hex[:34]},
		{"1Password token", "op" + "s_eyJ" + letters + letters},
		{"npm token", "np" + "m_" + letters[:36]},
		{"PyPI token", "py" + "pi-AgEIcHlwaS5vcmc" + letters},
		{"RubyGems key", "ruby" + "gems_" + hex[:48]},
		{"crates.io token", "ci" + "o" + letters[:32]},
		{"NuGet key", "oy" + "2" + lower[:43]},
		{"Docker token", "dckr" + "_pat_" + letters[:27]},
		{"Artifactory key", "AK" + "Cp" + letters + letters[:1]},
		{"Artifactory token", "cmVm" + "dGtu" + letters[:56]},
		{"Clojars token", "CLO" + "JARS_" + lower[:60]},
		{"Anthropic key", "sk-" + "ant-api03-" + letters + letters[:25] + "AA"},
		{"OpenRouter key", "sk-" + "or-v1-" + hex[:64]},
		{"OpenAI key", "sk-" + "proj-" + letters[:20] + "_" + letters[20:48]},
		{"model API key", "sk" + "-" + letters[:48]},
		{"Groq key", "gs" + "k_" + letters[:52]},
		{"xAI key", "xa" + "i-" + letters + letters[:12]},
		{"Hugging Face token", "h" + "f_" + letters[:34]},
		{"Replicate token", "r" + "8_" + letters[:37]},
		{"Perplexity key", "pp" + "lx-" + letters[:48]},
		{"Cerebras key", "cs" + "k-" + lower[:48]},
		{"NVIDIA key", "nv" + "api-" + letters[:64]},
		{"LangSmith key", "lsv2" + "_pt_" + hex[:32] + "_" + hex[32:42]},
		{"Tavily key", "tv" + "ly-dev-" + letters[:32]},
		{"E2B key", "e2" + "b_" + hex[:40]},
		{"ElevenLabs key", "s" + "k_" + hex[:48]},
		{"Slack token", "xo" + "xb-2491038475610-2491038475611-" + letters[:24]},
		{"Slack token", "xa" + "pp-1-" + upper[:11] + "-2491038475610-" + hex[:64]},
		{"Telegram token", "7491038456" + ":A" + "A" + letters[:33]},
		{"SendGrid key", "S" + "G." + letters[:22] + "." + letters[20:63]},
		{"Mailgun key", "ke" + "y-" + hex[:32]},
		{"Brevo key", "xkey" + "sib-" + hex[:64] + "-" + letters[:16]},
		{"Linear key", "lin" + "_api_" + letters[:40]},
		{"Notion token", "nt" + "n_49103845610" + letters[:35]},
		{"Notion token", "sec" + "ret_" + letters[:43]},
		{"Figma token", "fi" + "gd_" + letters[:40]},
		{"Typeform token", "tf" + "p_" + letters[:59]},
		{"Contentful token", "CF" + "PAT-" + letters[:43]},
		{"Stripe key", "sk" + "_live_" + letters[:24]},
		{"webhook secret", "wh" + "sec_" + letters[:32]},
		{"Square token", "sq0" + "atp-" + letters[:22]},
		{"Shopify token", "sh" + "pat_" + hex[:32]},
		{"Plaid token", "access-" + "production-" + uuid},
		{"EasyPost key", "EZ" + "AK" + letters[:54]},
	}
}

// TestMask masks a value of each form in places where values stand in conversations.
func TestMask(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, v := range values() {
		kind, value := v[0], v[1]
		kinds[kind] = true
		for _, around := range []string{
			"%s", "the key is %s, ok.", "KEY=%s\n", `{"key":"%s","other":1}`, `{\"key\":\"%s\"}`, "'%s'", `line\n%s\nnext`, "`%s`", "a\n%s\nb", "?key%%3D%s&x",
			"\x1b[1;31m%s\x1b[0m", "(%s)", "<key>%s</key>", "ein Schlüssel: %s。",
		} {
			if got, want := mask(fmt.Sprintf(around, value)), fmt.Sprintf(around, "[secret: "+kind+"]"); got != want {
				t.Errorf("%s: %q became %q", kind, fmt.Sprintf(around, value), got)
			}
		}
	}
	if len(kinds) < 40 {
		t.Errorf("there are %d kinds", len(kinds))
	}
}

// TestMaskPart masks the secret in a text that says where it belongs, and leaves the rest.
func TestMaskPart(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"postgres://app:q8Zt3LmX@db.internal:5432/prod", "postgres://app:[secret: password]@db.internal:5432/prod"},
		{"postgresql+asyncpg://app:p@ss:w0rd@10.0.0.1/db", "postgresql+asyncpg://app:[secret: password]@10.0.0.1/db"},
		{"DATABASE_URL=mysql://root:tops3cret@localhost/shop", "DATABASE_URL=mysql://root:[secret: password]@localhost/shop"},
		{"mongodb+srv://u1:Zt3LmX0v@c0.mongodb.net/", "mongodb+srv://u1:[secret: password]@c0.mongodb.net/"},
		{"redis://:Zt3LmX0v@cache:6379/0", "redis://:[secret: password]@cache:6379/0"},
		{"amqps://svc:Zt3LmX0v@mq/vhost", "amqps://svc:[secret: password]@mq/vhost"},
		{"aws_secret_" + "access_key = " + letters[:40], "aws_secret_access_key = [secret: AWS secret key]"},
		{`"Secret` + `AccessKey": "` + letters[:40] + `",`, `"SecretAccessKey": "[secret: AWS secret key]",`},
		{"AWS_SECRET_" + "ACCESS_KEY=" + letters[:40], "AWS_SECRET_ACCESS_KEY=[secret: AWS secret key]"},
		{"Private" + "Key = " + letters[:42] + "A=", "PrivateKey = [secret: WireGuard key]"},
		{"curl -H 'Authorization: " + "Bearer " + letters[:30] + "' x", "curl -H 'Authorization: Bearer [secret: bearer token]' x"},
		{`{"authorization": "` + `Bearer ` + letters[:30] + `"}`, `{"authorization": "Bearer [secret: bearer token]"}`},
		{"https://hooks.slack.com/" + "services/T024BE7LD/B024BE7LE/" + letters[:24], "https://hooks.slack.com/services/[secret: Slack webhook]"},
		{"https://discord.com/api/" + "webhooks/749103845674910384/" + letters, "https://discord.com/api/webhooks/749103845674910384/[secret: Discord webhook]"},
		{
			"https://acme.webhook." + "office.com/webhookb2/" + letters[:36] + "@" + letters[:36] + "/IncomingWebhook/" + hex[:32] + "/" + letters[:36],
			"https://acme.webhook.office.com/webhookb2/[secret: Teams webhook]",
		},
		{"gh" + "p_" + letters[:36] + ",gh" + "o_" + letters[1:37], "[secret: GitHub token],[secret: GitHub token]"},
	}
	for _, tt := range tests {
		if got := mask(tt.text); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestMaskNothing leaves placeholders, and words that are longer than a secret or only begin like one.
func TestMaskNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "key", "no secret here",
		"postgres://${DB_USER}:${DB_PASSWORD}@db/x", "postgres://app:$PGPASSWORD@db/x", "postgres://user:password@localhost/db",
		"postgres://<user>:<password>@db/x", "mysql://root:root@localhost", "redis://:{{password}}@cache", "postgres://user:%s@db", "postgres://u:****@db",
		"mongodb://DB_USER:DB_PASS@host", "postgres://app:[secret: password]@db", "postgres://db:5432/x", "https://github.com/a/b@v1",
		"AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = $AWS_SECRET_ACCESS_KEY",
		"ghp_" + strings.Repeat("x", 36), "ghp_" + strings.Repeat("0", 36), "ghp_...", "ghp_$TOKEN", "gh" + "p_" + letters[:35],
		"sk-ant-api03-your-key-here-your-key-here", "sk-proj-<your-key>", "OPENAI_API_KEY=sk-...", "sk-container-id-1 div.sk-parallel-item",
		"Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "Authorization: Bearer YOUR_ACCESS_TOKEN_HERE",
		"-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----", `strings.Contains(s, "-----BEGIN RSA ` + `PRIVATE KEY-----")`,
		"-----BEGIN PUBLIC KEY-----\n" + letters + "\n-----END PUBLIC KEY-----",
		"task_live_" + letters[:24], "makeAK" + "IA" + upper[:16], "AK" + "IA" + upper[:20], "ci" + "o" + letters[:33], "npm_config_registry", "hf_hub_download",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
	} {
		if got := mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestMaskKeepsItsArgument(t *testing.T) {
	t.Parallel()
	text := []byte("a gh" + "p_" + letters[:36] + " b")
	before := bytes.Clone(text)
	if secret.Mask(text); !bytes.Equal(text, before) {
		t.Errorf("the text became %q", text)
	}
	if clean := []byte("nothing"); &secret.Mask(clean)[0] != &clean[0] {
		t.Error("a text without secrets was copied")
	}
}

func mask(text string) string { return string(secret.Mask([]byte(text))) }

// FuzzMask checks that a masked text stays the same, and is not much longer.
func FuzzMask(f *testing.F) {
	for _, v := range values() {
		f.Add([]byte(v[1]))
	}
	f.Add([]byte("redis://:abc@c redis://:abd@c eyJeyJ.eyJ.eyJ -----BEGIN PRIVATE KEY-----A: "))
	f.Fuzz(func(t *testing.T, text []byte) {
		masked := secret.Mask(text)
		if again := secret.Mask(masked); !bytes.Equal(masked, again) {
			t.Errorf("%q became %q, and that %q", text, masked, again)
		}
		if most := len(text) + len("[secret: password]")*bytes.Count(masked, []byte("[secret: ")); len(masked) > most {
			t.Errorf("%d bytes became %d", len(text), len(masked))
		}
		if utf8.Valid(text) && !utf8.Valid(masked) {
			t.Errorf("%q became %q", text, masked)
		}
	})
}

// BenchmarkMask masks a text without secrets, and texts that only look like having many.
func BenchmarkMask(b *testing.B) {
	const size = 4 << 20
	texts := map[string][]byte{"code": nil}
	for _, begin := range []string{"sk-ant-", "eyJa.", "-----BEGIN PRIVATE KEY-----A: ", "postgres://a:b", "aws_secret_access_key=", "x", "xoxb-"} {
		texts[begin] = bytes.Repeat([]byte(begin), size/len(begin))
	}
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		b.Fatal(err)
	}
	for len(texts["code"]) < size {
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			texts["code"] = append(texts["code"], code...)
		}
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				secret.Mask(text)
			}
		})
	}
}
