"""Stand-ins and small servers for tests, ours and those of people who build on WebServ.

`page_server.py` serves pages whose answers a test holds back to fix the order of events.
"""
