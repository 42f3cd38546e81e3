from django.urls import include, path, re_path

from leaderboard import api, api_actions, api_archive, api_runs
from leaderboard.views import archive, board, compare, samples, systems

campaign = [
    path("export/", archive.ways_out, name="ways_out"),
    path("snapshots/<slug:digest>/published/", archive.published, name="published"),
    path("export/archive/", archive.make_archive, name="make_archive"),
    path("export/archive/file/", archive.archive, name="archive"),
    path("leaderboard/", board.leaderboard, name="leaderboard"),
    path("leaderboard/embed/", board.embed, name="board_embed"),
    path("leaderboard/play/", board.play, name="play"),
    path("leaderboard/ask/", board.ask, name="ask_where_unsure"),
    path("leaderboard/settings/", board.settings, name="board_settings"),
    path("leaderboard/beside/", compare.beside, name="beside"),
    path("leaderboard/history/", compare.history, name="history"),
    path("leaderboard/breakdown/", compare.breakdown, name="breakdown"),
    path("leaderboard/samples/", samples.sample_list, name="samples"),
    path("leaderboard/samples/<int:pk>/", samples.sample, name="sample"),
    path("systems/", systems.system_list, name="systems"),
    path("systems/<int:pk>/", systems.system, name="system"),
    path("systems/<int:pk>/describe/", systems.describe, name="system_describe"),
    path("systems/<int:pk>/outputs/", systems.replace, name="system_replace"),
    path("systems/<int:pk>/retire/", systems.retire, name="system_retire"),
]

urlpatterns = [
    path("boards/", board.public, name="public_boards"),
    path("new/archive/", archive.bring_back, name="bring_back"),
    path("c/<slug:slug>/", include(campaign)),
    path("tournaments/<int:pk>/", board.tournament, name="tournament"),
    path("tournaments/<int:pk>.<slug:format>", board.tournament_file, name="tournament_file"),
    path("api/archives/", api_archive.ArchivesView.as_view(), name="api_archives"),
    re_path(
        r"^api/campaigns/(?P<slug>[-\w]+)/snapshots/(?P<digest>[0-9a-f]{12,64})/published/$",
        api_archive.PublishedView.as_view(),
        name="api_published",
    ),
    path("api/campaigns/<slug:slug>/archive/", api_archive.ArchiveView.as_view(), name="api_archive"),
    path("api/campaigns/<slug:slug>/leaderboard/", api.LeaderboardView.as_view(), name="api_leaderboard"),
    path("api/campaigns/<slug:slug>/systems/", api.SystemsView.as_view(), name="api_systems"),
    path("api/campaigns/<slug:slug>/systems/<int:pk>/", api.SystemView.as_view(), name="api_system"),
    path("api/campaigns/<slug:slug>/systems/<int:pk>/outputs/", api.OutputsView.as_view(), name="api_system_outputs"),
    path("api/campaigns/<slug:slug>/tournaments/", api_actions.TournamentsView.as_view(), name="api_tournaments"),
    path("api/campaigns/<slug:slug>/contexts/", api_runs.ContextsView.as_view(), name="api_contexts"),
    path("api/campaigns/<slug:slug>/runs/", api_runs.RunsView.as_view(), name="api_runs"),
    path("api/campaigns/<slug:slug>/runs/<str:name>/", api_runs.RunView.as_view(), name="api_run"),
    path("api/campaigns/<slug:slug>/runs/<str:name>/csv/", api_runs.RunFileView.as_view(), name="api_run_file"),
    path("api/campaigns/<slug:slug>/runs/<str:name>/checkpoints/", api_runs.CheckpointsView.as_view(), name="api_checkpoints"),
    path("api/campaigns/<slug:slug>/runs/<str:name>/choose/", api_runs.ChooseView.as_view(), name="api_choose"),
    path("api/campaigns/<slug:slug>/runs/<str:name>/close/", api_runs.CloseView.as_view(), name="api_close"),
    path("api/campaigns/<slug:slug>/ask/", api_actions.AskView.as_view(), name="api_ask"),
    re_path(
        r"^api/tournaments/(?P<pk>\d{1,9})/file/(?P<kind>csv|tex|svg)/$",
        api_actions.TournamentFileView.as_view(),
        name="api_tournament_file",
    ),
    path("api/tournaments/<int:pk>/", api.TournamentView.as_view(), name="api_tournament"),
]
