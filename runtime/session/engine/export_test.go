package engine

// The limits that tests change.

func (o *Options) LimitResponse(bytes int) {
	o.limits = standardLimits()
	o.limits.response = bytes
}

func (o *Options) LimitHistory(bytes int) {
	o.limits = standardLimits()
	o.limits.history = bytes
}

func (o *Options) LimitOutput(chars int) {
	o.limits = standardLimits()
	o.limits.output = chars
}
