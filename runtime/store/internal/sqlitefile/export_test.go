package sqlitefile

import "time"

// SetRows sets how many rows a query has at the most.
func SetRows(db *DB, rows int) { db.rows = rows }

// SetTime sets how long SQLite may work on a database.
func SetTime(db *DB, d time.Duration) { db.left.Store(int64(d)) }

// Time returns how long SQLite may still work on a database.
func Time(db *DB) time.Duration { return time.Duration(db.left.Load()) }
