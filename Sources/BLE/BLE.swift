// The async Swift API: one actor per adapter.
