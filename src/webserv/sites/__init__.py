"""The built-in sites, one folder each: `site.yaml`, a recipe (`build.py`), a seed, tasks, evaluators, references."""
