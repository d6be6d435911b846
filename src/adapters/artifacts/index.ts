export { openArtifacts } from './directory.ts';
export { openS3Artifacts, type S3Options } from './s3.ts';
