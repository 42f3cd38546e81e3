"""The page that makes the first admin. Once there is one it is gone."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from annotation.forms import FirstAdminForm
from annotation.people import first_admin
from annotation.views.people.join import BACKEND
from core.errors import Refused
from core.throttling import FIRST_ADMIN_CODES_FROM_ADDRESS, address


@login_not_required
@sensitive_post_parameters()
@never_cache
def make(request):
    if not first_admin.is_offered(request):
        raise Http404
    asks_code = not first_admin.is_from_this_machine(request)
    form = FirstAdminForm(request.POST or None, asks_code=asks_code)
    if request.method == "POST":
        if asks_code and FIRST_ADMIN_CODES_FROM_ADDRESS.is_reached(address(request)):
            form = FirstAdminForm(asks_code=asks_code)
            messages.error(request, "Too many codes were wrong. Wait a quarter of an hour, then try again.")
            return render(request, "annotation/first_admin.html", {"form": form}, status=429)
        if form.is_valid():
            try:
                admin = first_admin.make_first_admin(form.save(commit=False))
            except Refused:  # somebody was quicker
                raise Http404 from None
            login(request, admin, backend=BACKEND)
            messages.success(request, "You are the admin. Next, create the first campaign.")
            return redirect("home")
        if "code" in form.errors:
            FIRST_ADMIN_CODES_FROM_ADDRESS.count_one(address(request))
    return render(request, "annotation/first_admin.html", {"form": form}, status=422 if request.method == "POST" else 200)
