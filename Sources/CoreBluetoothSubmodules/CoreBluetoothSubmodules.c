// The module map is all that this target is for; the package manager wants a source.
