"""A new password by a letter, where e-mail is set up. Whether an address has an account is told to nobody."""

from django.conf import settings
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpResponseRedirect
from django.urls import path
from django.utils.decorators import method_decorator

from core import mail
from core.throttling import RESETS_FOR_EMAIL, RESETS_FROM_ADDRESS, address, remember_browser


class WhereMailIsOn:
    @method_decorator(login_not_required)
    def dispatch(self, request, *args, **kwargs):
        if not mail.is_on():
            raise Http404
        return super().dispatch(request, *args, **kwargs)  # type: ignore[misc]


class Ask(WhereMailIsOn, auth.PasswordResetView):
    def form_valid(self, form):
        limits = [(RESETS_FROM_ADDRESS, address(self.request)), (RESETS_FOR_EMAIL, form.cleaned_data["email"].lower())]
        if any(limit.is_reached(key) for limit, key in limits):
            return HttpResponseRedirect(self.get_success_url())  # as if there were no such account
        for limit, key in limits:
            limit.count_one(key)
        self.extra_email_context = {"site_url": settings.SITE_URL}
        return super().form_valid(form)


class ResetRequest(WhereMailIsOn, auth.PasswordResetDoneView):
    pass


class Choose(WhereMailIsOn, auth.PasswordResetConfirmView):
    def form_valid(self, form):
        """The letter's owner signs in next, whoever guesses passwords elsewhere."""
        response = super().form_valid(form)
        remember_browser(response, self.user.get_username())
        return response


class Done(WhereMailIsOn, auth.PasswordResetCompleteView):
    pass


urlpatterns = [
    path("", Ask.as_view(), name="password_reset"),
    path("sent/", ResetRequest.as_view(), name="password_reset_done"),
    path("done/", Done.as_view(), name="password_reset_complete"),
    path("<uidb64>/<token>/", Choose.as_view(), name="password_reset_confirm"),
]
