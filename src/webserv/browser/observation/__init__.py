"""From a page to text.

`collect.py` makes one pass per frame, `element.py` holds the model, `ids.py` names the
elements, `renderers/` turn the model into text and `budget.py` cuts it, saying what was cut.
"""
