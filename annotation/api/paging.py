from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Lists in pages of 100, or of as many as `page_size` asks for."""

    page_size_query_param = "page_size"
    max_page_size = 1000
