"""For admins: what is kept about a person, to hand it out or to erase it."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from annotation.models import User
from annotation.people import personal_data
from core.errors import Refused


class EraseForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label="Log-in name",
        help_text="To erase, type it again.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )


@never_cache
@login_required
def person(request, pk):
    if not request.user.is_admin:
        raise Http404
    found = get_object_or_404(User, pk=pk)
    if request.POST.get("do") == "export":
        response = HttpResponse(personal_data.as_zip(found), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="person-{found.pk}.zip"'
        return response
    form = EraseForm(request.POST if request.POST.get("do") == "erase" else None)
    if form.is_valid():
        try:
            if form.cleaned_data["username"] != found.username:
                raise Refused("This is not the log-in name of this account.")
            personal_data.erase(found)
        except Refused as refused:
            form.add_error("username", str(refused))
        else:
            messages.success(request, "Erased. The judgments stay under the pseudonym of each campaign.")
            return redirect("person", pk)
    context = {"person": found, "counts": personal_data.counts(found), "form": form}
    return render(request, "annotation/person.html", context, status=422 if form.is_bound else 200)
