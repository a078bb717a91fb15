"""The product form's choice of category: Oscar asks the database, and renders a template, once per choice."""

from django import forms
from django.utils.html import format_html, format_html_join
from oscar.apps.dashboard.catalogue import forms as catalogue_forms
from oscar.core.loading import get_model

Category = get_model("catalogue", "Category")


def full_names():
    """Pairs each category's id with its full name ("Garden > Watering"), in tree order, with one query."""
    names, choices = {}, []
    for pk, path, name in Category.objects.order_by("path").values_list("pk", "path", "name"):
        above = names.get(path[: -Category.steplen])
        names[path] = f"{above} > {name}" if above else name
        choices.append((pk, names[path]))
    return choices


class PlainSelect(forms.Select):
    """A select without groups, built as a string."""

    def render(self, name, value, attrs=None, renderer=None):
        attributes = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        attributes.pop("required", None)
        chosen = "" if value is None else str(value)
        options = format_html_join(
            "",
            '<option value="{}"{}>{}</option>',
            (
                (key, format_html(" selected") if str(key) == chosen else "", label)
                for key, label in self.choices
            ),
        )
        return format_html(
            "<select{}>{}</select>", format_html_join("", ' {}="{}"', sorted(attributes.items())), options
        )


class ProductCategoryForm(catalogue_forms.ProductCategoryForm):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        field = self.fields["category"]
        widget = field.widget = PlainSelect(field.widget.attrs)
        widget.choices = [("", field.empty_label), *full_names()]

    class Meta(catalogue_forms.ProductCategoryForm.Meta):
        pass
