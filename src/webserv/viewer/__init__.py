"""What people see of a run. Begin with `report.py`, which writes a run's static pages."""
