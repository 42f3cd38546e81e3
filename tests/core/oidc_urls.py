"""All URLs, as they are where a sign-in provider is set up."""

from config import oidc, urls

handler400, handler500 = urls.handler400, urls.handler500
urlpatterns = [*oidc.urlpatterns, *urls.urlpatterns]
