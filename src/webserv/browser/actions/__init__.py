"""What a policy can do.

`grammar.py` reads actions from text or JSON into the records of `types.py`; `execute.py` carries them out
(`pointer.py`, `text.py`, `select.py`, `files.py`, `tabs.py`, `navigate.py`), refusing with the values of
`outcome.py`. `schema.py` describes them to an LLM, `sample.py` draws random ones. None is ever run as code.
"""
