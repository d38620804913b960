package postgres

// Migrations are those of the schema.
func Migrations() []string { return migrations() }
