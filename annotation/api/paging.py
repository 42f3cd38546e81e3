from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Lists in pages of 100, or of as many as `page_size` asks for."""

    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_page_size(self, request):
        asked = request.query_params.get(self.page_size_query_param, "1")
        if not (asked.isascii() and asked.isdigit() and asked.strip("0")) or len(asked) > 9:
            raise ValidationError({self.page_size_query_param: "A whole number from 1 to 1000 is needed."})
        return super().get_page_size(request)
