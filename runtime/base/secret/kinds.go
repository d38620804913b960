package secret

// kind is a kind of secret: one of its literals, and what the pattern matches after the literal.
type kind struct {
	name     string
	literals string // between spaces, each of at least three bytes
	after    string // a regular expression; if it has a group, only the group is the secret
	before   string // a regular expression for up to 32 bytes before the literal; its group belongs to the secret
	chosen   bool   // a person chose it: it may be a word such as "password"
}

// The beginnings of patterns: what stands between a name and its value, and a key in PEM up to its first line.
const (
	assigned  = `\\*["']?\s{0,4}(?::|=>?|,)\s{0,4}\\*["']?`
	separator = `(?:\\+[nrt]|[^A-Za-z0-9/\\:{}-])*`
	pemBegin  = `(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----` + separator + `(?:[A-Z][A-Za-z-]{2,20}: [^\r\n\\]{0,100}` + separator + `){0,5}`
	lines     = `[A-Za-z0-9+/=]{40,}(?:` + separator + `[A-Za-z0-9+/=]{20,})*`
	pemEnd    = `(?:(?:` + separator + `[A-Za-z0-9+/=]{1,20}){0,2}` + separator + `-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?`
)

// kinds returns the kinds of secrets. Of two that begin at the same byte the first one counts. Indexes keep which
// messages have secrets: after a change here, raise indexFormat in package conversations.
func kinds() []kind {
	return []kind{
		// Keys that are no tokens.
		{name: "private key", literals: "-----BEGIN", after: ` ` + pemBegin + lines + pemEnd},
		{name: "private key", literals: "Private-Lines:", after: ` ?\d+` + separator + lines},
		{name: "age key", literals: "AGE-SECRET-KEY-1", after: `[0-9A-Z]{58}`},
		{name: "WireGuard key", literals: "PrivateKey", after: `\s{0,4}=\s{0,4}([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)`},
		{name: "JWT", literals: "eyJ", after: `[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]+)*`, before: `(?:^|[^-])()$`},
		{
			name: "password", chosen: true,
			literals: "postgres:// postgresql:// mysql:// mysql2:// mariadb:// mongodb:// mongodb+srv:// redis:// rediss:// valkey:// amqp:// amqps:// " +
				"clickhouse:// cockroachdb:// sqlserver:// mssql:// oracle:// snowflake:// redshift:// " +
				"+psycopg2:// +psycopg:// +asyncpg:// +pg8000:// +pymysql:// +aiomysql:// +mysqldb:// +mysqlconnector:// +pyodbc:// +cx_oracle:// +oracledb://",
			after: `[^\s:/@"'<>(){}\[\]\x60\\]{0,64}:([^\s/"'<>\x60\\]{3,128})@[\w\[]`,
		},
		{name: "bearer token", literals: "Bearer", after: `\s+([\w.~+/-]{20,}=*)`, before: `uthorization\\*["']?\s{0,3}[:=]\s{0,3}\\*["']?()$`},

		// Clouds and what runs in them.
		{name: "AWS access key", literals: "AKIA ASIA ABIA ACCA", after: `[A-Z0-9]{16}`},
		{
			name: "AWS secret key", literals: "aws_secret_access_key AWS_SECRET_ACCESS_KEY SecretAccessKey secretAccessKey secret_access_key",
			after: assigned + `([A-Za-z0-9/+]{40})`,
		},
		{name: "AWS Bedrock key", literals: "ABSK", after: `[A-Za-z0-9+/]{109,269}={0,2}`},
		{name: "Google API key", literals: "AIza", after: `[\w-]{35}`},
		{name: "Google OAuth secret", literals: "GOCSPX-", after: `[\w-]{28}`},
		{name: "Google OAuth token", literals: "ya29.", after: `[\w-]{30,}`},
		{name: "Azure key", literals: "AccountKey= SharedAccessKey=", after: `[A-Za-z0-9+/]{42,86}={1,2}`},
		{name: "Azure secret", literals: "0Q~ 1Q~ 2Q~ 3Q~ 4Q~ 5Q~ 6Q~ 7Q~ 8Q~ 9Q~", after: `[\w~.-]{31,34}`, before: `([\w~.]{3})$`},
		{name: "Alibaba key", literals: "LTAI", after: `[A-Za-z0-9]{16,24}`},
		{name: "Tencent key", literals: "AKID", after: `[A-Za-z0-9]{32}`},
		{name: "DigitalOcean token", literals: "dop_v1_ doo_v1_ dor_v1_", after: `[a-f0-9]{64}`},
		{name: "Heroku key", literals: "HRKU-AA", after: `[\w-]{58}`},
		{name: "Fly token", literals: "fm1_ fm1r_ fm2_ fo1_", after: `[\w+/-]{40,}=*(?:,[\w+/-]{40,}=*)*`},
		{name: "Netlify token", literals: "nfp_ nfc_ nfo_ nfu_ nfb_", after: `[A-Za-z0-9]{36,}`},
		{name: "Cloudflare key", literals: "v1.0-", after: `[a-f0-9]{24}-[a-f0-9]{146}`},
		{name: "Supabase token", literals: "sbp_", after: `[a-f0-9]{40}`},
		{name: "Supabase key", literals: "sb_secret_", after: `[\w-]{20,}`},
		{name: "PlanetScale token", literals: "pscale_tkn_ pscale_pw_ pscale_oauth_", after: `[\w-]{32,}`},
		{name: "Databricks token", literals: "dapi", after: `[a-f0-9]{32}(?:-\d)?`},
		{name: "Pulumi token", literals: "pul-", after: `[a-f0-9]{40}`},
		{name: "Vault token", literals: "hvs. hvb. hvr.", after: `[\w-]{24,}`},
		{name: "Terraform token", literals: ".atlasv1.", after: `[\w=-]{60,70}`, before: `([A-Za-z0-9]{14})$`},
		{name: "OpenShift token", literals: "sha256~", after: `[\w-]{43}`},
		{name: "Tailscale key", literals: "tskey-", after: `[a-z]+-[\w-]{20,}`},
		{name: "Scalingo token", literals: "tk-us-", after: `[\w-]{48}`},

		// Code hosts, builds and operations.
		{name: "GitHub token", literals: "ghp_ gho_ ghu_ ghs_ ghr_", after: `[A-Za-z0-9]{36,}`},
		{name: "GitHub token", literals: "github_pat_", after: `[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`},
		{name: "GitLab token", literals: "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-", after: `[\w-]{20,}(?:\.[\w-]+)*`},
		{name: "Atlassian token", literals: "ATATT3 ATCTT3", after: `[\w=-]{60,}`},
		{name: "Bitbucket password", literals: "ATBB", after: `[A-Za-z0-9]{32}`},
		{name: "Sourcegraph token", literals: "sgp_ sgd_", after: `(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}`},
		{name: "Buildkite token", literals: "bkua_", after: `[a-f0-9]{40}`},
		{name: "CircleCI token", literals: "CCIPAT_ CCIPRJ_", after: `[A-Za-z0-9]{22}_[a-f0-9]{40}`},
		{name: "Doppler token", literals: "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", after: `(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}`},
		{name: "Infracost key", literals: "ico-", after: `[A-Za-z0-9]{32}`},
		{name: "Grafana token", literals: "glsa_", after: `[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}`},
		{name: "Grafana token", literals: "glc_eyJ", after: `[A-Za-z0-9+/]{32,}={0,2}`},
		{name: "New Relic key", literals: "NRAK- NRII-", after: `[\w-]{27,32}`},
		{name: "Sentry token", literals: "sntrys_eyJ sntryu_", after: `[\w+/=]{60,}`},
		{name: "Dynatrace token", literals: "dt0c01. dt0s01. dt0s02. dt0s16.", after: `[A-Z0-9]{8,24}\.[A-Z0-9]{64}`},
		{name: "PostHog key", literals: "phx_", after: `[A-Za-z0-9]{40,}`},
		{name: "Prefect key", literals: "pnu_ pnb_", after: `[A-Za-z0-9]{36}`},
		{name: "Postman key", literals: "PMAK-", after: `[a-f0-9]{24}-[a-f0-9]{34}`},
		{name: "1Password token", literals: "ops_eyJ", after: `[\w+/=-]{100,}`},

		// Package registries.
		{name: "npm token", literals: "npm_", after: `[A-Za-z0-9]{36}`},
		{name: "PyPI token", literals: "pypi-AgE", after: `[\w-]{50,}`},
		{name: "RubyGems key", literals: "rubygems_", after: `[a-f0-9]{48}`},
		{name: "crates.io token", literals: "cio", after: `[A-Za-z0-9]{32}`},
		{name: "NuGet key", literals: "oy2", after: `[a-z0-9]{43}`},
		{name: "Docker token", literals: "dckr_pat_ dckr_oat_", after: `[\w-]{27,}`},
		{name: "Artifactory key", literals: "AKCp", after: `[A-Za-z0-9]{69}`},
		{name: "Artifactory token", literals: "cmVmdGtu", after: `[A-Za-z0-9]{56}`},
		{name: "Clojars token", literals: "CLOJARS_", after: `[a-z0-9]{60}`},

		// Providers of models.
		{name: "Anthropic key", literals: "sk-ant-", after: `[\w-]{20,}`},
		{name: "OpenRouter key", literals: "sk-or-", after: `[\w-]{32,}`},
		{name: "OpenAI key", literals: "sk-proj- sk-svcacct- sk-admin-", after: `[\w-]{20,}`},
		{name: "model API key", literals: "sk-", after: `[A-Za-z0-9]{32,}`},
		{name: "Groq key", literals: "gsk_", after: `[A-Za-z0-9]{48,}`},
		{name: "xAI key", literals: "xai-", after: `[A-Za-z0-9]{60,}`},
		{name: "Hugging Face token", literals: "hf_ api_org_", after: `[A-Za-z0-9]{34,}`},
		{name: "Replicate token", literals: "r8_", after: `[A-Za-z0-9]{37}`},
		{name: "Perplexity key", literals: "pplx-", after: `[A-Za-z0-9]{48,}`},
		{name: "Cerebras key", literals: "csk-", after: `[a-z0-9]{48}`},
		{name: "NVIDIA key", literals: "nvapi-", after: `[\w-]{60,}`},
		{name: "LangSmith key", literals: "lsv2_pt_ lsv2_sk_", after: `[a-f0-9]{32}_[a-f0-9]{10}`},
		{name: "Tavily key", literals: "tvly-", after: `[A-Za-z0-9-]{32,}`},
		{name: "E2B key", literals: "e2b_", after: `[a-f0-9]{40}`},
		{name: "ElevenLabs key", literals: "sk_", after: `[a-f0-9]{48}`},

		// Chat, mail and work.
		{name: "Slack token", literals: "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxe- xoxe.", after: `[A-Za-z0-9%-]{20,}(?:\.[A-Za-z0-9%-]+)*`},
		{name: "Slack token", literals: "xapp-", after: `\d-[A-Z0-9]{8,}-\d+-[a-f0-9]{40,}`},
		{name: "Slack webhook", literals: "hooks.slack.com/", after: `(?:services|workflows)/([A-Za-z0-9+/]{40,})`},
		{name: "Discord webhook", literals: "discord.com/api/ discordapp.com/api/", after: `(?:v\d+/)?webhooks/\d{16,20}/([\w-]{60,})`},
		{name: "Teams webhook", literals: ".webhook.office.com/", after: `webhookb2/([\w@-]{73}/IncomingWebhook/[a-f0-9]{32}/[\w-]{36})`, before: `\w()$`},
		{name: "Telegram token", literals: ":AA", after: `[\w-]{33}`, before: `(\d{8,10})$`},
		{name: "SendGrid key", literals: "SG.", after: `[\w-]{16,32}\.[\w-]{32,64}`},
		{name: "Mailgun key", literals: "key-", after: `[a-f0-9]{32}`},
		{name: "Brevo key", literals: "xkeysib- xsmtpsib-", after: `[a-f0-9]{64}-[A-Za-z0-9]{16}`},
		{name: "Linear key", literals: "lin_api_ lin_oauth_", after: `[A-Za-z0-9]{40,64}`},
		{name: "Notion token", literals: "ntn_", after: `[0-9]{11}[A-Za-z0-9]{35}`},
		{name: "Notion token", literals: "secret_", after: `[A-Za-z0-9]{43}`},
		{name: "Figma token", literals: "figd_", after: `[\w-]{40,}`},
		{name: "Typeform token", literals: "tfp_", after: `[\w.=-]{59}`},
		{name: "Contentful token", literals: "CFPAT-", after: `[\w-]{43}`},

		// Payments and shops.
		{name: "Stripe key", literals: "sk_live_ rk_live_ sk_test_ rk_test_", after: `[A-Za-z0-9]{16,}`},
		{name: "webhook secret", literals: "whsec_", after: `[A-Za-z0-9+/=]{24,}`},
		{name: "Square token", literals: "sq0atp- sq0csp-", after: `[\w-]{22,43}`},
		{name: "Shopify token", literals: "shpat_ shpca_ shppa_ shpss_", after: `[a-fA-F0-9]{32}`},
		{name: "Plaid token", literals: "access-production- access-sandbox-", after: `[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}`},
		{name: "EasyPost key", literals: "EZAK EZTK", after: `[A-Za-z0-9]{54}`},
	}
}
