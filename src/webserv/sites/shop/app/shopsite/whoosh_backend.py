"""Haystack's Whoosh engine, made for a process that is forked: opened read-only, opened once, shared by all threads.

Whoosh copies 3 MB of the index into memory for each reader, and Haystack opens two readers per search and thread.
"""

import threading

from haystack import connections
from haystack.backends import whoosh_backend
from whoosh.filedb.filestore import FileStorage
from whoosh.index import EmptyIndexError, FileIndex
from whoosh.qparser import FuzzyTermPlugin, QueryParser


class KeptIndex(FileIndex):
    """An index that keeps its searcher, and renews it when the files have changed."""

    _kept = None

    def searcher(self, **kwargs):
        searcher = self._kept.refresh() if self._kept else super().searcher(**kwargs)
        # Haystack closes what it has searched with.
        searcher.close = _keep_open
        self._kept = searcher
        return searcher

    def doc_count(self):
        return self.searcher().doc_count()


def _keep_open():
    """Stands in for a searcher's `close`."""


class Backend(whoosh_backend.WhooshSearchBackend):
    def __init__(self, connection_alias, **connection_options):
        super().__init__(connection_alias, **connection_options)
        # A Whoosh reader has file positions, so two threads may not use it at once (whoosh docs, "Threads").
        self._one_at_a_time = threading.RLock()

    def setup(self):
        """Opens the index; makes one only where there is none. Haystack insists on write permission."""
        fields = connections[self.connection_alias].get_unified_index().all_searchfields()
        content, schema = self.build_schema(fields)
        storage = FileStorage(self.path)
        try:
            index = KeptIndex(storage, schema)
        except (EmptyIndexError, OSError):
            super().setup()
            return
        self.storage, self.index, self.schema, self.content_field_name = storage, index, schema, content
        self.parser = QueryParser(content, schema=schema)
        self.parser.add_plugins([FuzzyTermPlugin])
        self.setup_complete = True

    def move(self, path):
        """Uses the index at `path` from now on; one that is open already stays open."""
        if path != self.path:
            self.path = path
            self.setup_complete = False

    def search(self, *args, **kwargs):
        with self._one_at_a_time:
            return super().search(*args, **kwargs)

    def update(self, *args, **kwargs):
        with self._one_at_a_time:
            super().update(*args, **kwargs)

    def remove(self, *args, **kwargs):
        with self._one_at_a_time:
            super().remove(*args, **kwargs)


class Engine(whoosh_backend.WhooshEngine):
    backend = Backend
