"""Ready-made checks of an end state: `answer`, `url`, `page`, `database`; frozen, compared by value."""
