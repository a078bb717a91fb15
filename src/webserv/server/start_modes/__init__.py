"""How a clone comes alive: `boot.py` and `zygote.py`; `preloader.py` is the program that runs as the zygote."""
