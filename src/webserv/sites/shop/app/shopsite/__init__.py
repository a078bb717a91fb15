"""The Django project: settings, the site's clock, and what differs from stock Oscar."""
