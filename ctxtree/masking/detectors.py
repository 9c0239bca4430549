"""The detectors of `detect-secrets`, if it is installed: further issuers' shapes.

Those that look for entropy or for names are left out: they take hashes, ids and code for secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ctxtree.errors import NotFound

_MODULES = {
    "artifactory": "ArtifactoryDetector", "aws": "AWSKeyDetector", "azure_storage_key": "AzureStorageKeyDetector",
    "cloudant": "CloudantDetector", "discord": "DiscordBotTokenDetector", "github_token": "GitHubTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector", "ibm_cos_hmac": "IbmCosHmacDetector", "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector", "npm": "NpmDetector", "sendgrid": "SendGridDetector", "slack": "SlackDetector",
    "softlayer": "SoftlayerDetector", "square_oauth": "SquareOAuthDetector", "stripe": "StripeDetector", "twilio": "TwilioKeyDetector",
}  # fmt: skip
SHORTEST = 8


def finder() -> Callable[[str], Iterator[tuple[str, str]]]:
    """Text -> kinds and secrets. Raises NotFound if the package is not installed."""
    try:
        classes = [
            getattr(import_module(f"detect_secrets.plugins.{name}"), of) for name, of in _MODULES.items()
        ]
    except ImportError:
        raise NotFound("detect-secrets is not installed; pip install 'ctxtree[redact]'") from None
    detectors: list[Any] = [made() for made in classes]

    def find(text: str) -> Iterator[tuple[str, str]]:
        for detector in detectors:
            for secret in detector.analyze_string(text):
                if len(secret) >= SHORTEST and "[redacted" not in secret:
                    yield detector.secret_type.lower().replace(" ", "-"), secret

    return find
