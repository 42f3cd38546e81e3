"""Several outputs of one context, put in order: all that is this question's alone."""
