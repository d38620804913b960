package exports_test

func limitFiles() {}
