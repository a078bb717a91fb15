"""Haystack's Whoosh engine for an index that may be read-only, as it is while the zygote warms up."""

from haystack import connections
from haystack.backends import whoosh_backend
from whoosh.filedb.filestore import FileStorage
from whoosh.index import EmptyIndexError
from whoosh.qparser import FuzzyTermPlugin, QueryParser


class Backend(whoosh_backend.WhooshSearchBackend):
    def setup(self):
        """Opens the index; makes one only where there is none. Haystack insists on write permission."""
        fields = connections[self.connection_alias].get_unified_index().all_searchfields()
        content, schema = self.build_schema(fields)
        storage = FileStorage(self.path)
        try:
            index = storage.open_index(schema=schema)
        except (EmptyIndexError, OSError):
            super().setup()
            return
        self.storage, self.index, self.schema, self.content_field_name = storage, index, schema, content
        self.parser = QueryParser(content, schema=schema)
        self.parser.add_plugins([FuzzyTermPlugin])
        self.setup_complete = True

    def reopen(self, path):
        """Forgets the open index; the next search opens the one at `path`."""
        if self.setup_complete:
            self.index.close()
            self.storage.close()
        self.path = path
        self.setup_complete = False


class Engine(whoosh_backend.WhooshEngine):
    backend = Backend
